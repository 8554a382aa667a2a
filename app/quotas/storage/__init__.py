"""The statements of quotas."""
