"""Scholarly providers: what each is sent and what its answer says. The exchange itself is the entrance's."""
