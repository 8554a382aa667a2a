"""What an organisation and its keys may use, and what they have used."""
