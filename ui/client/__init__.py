"""The parts of the client of the API, a module a feature, over one `ApiClient`."""
