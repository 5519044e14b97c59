"""How bots are confined: levels, and what each start needs; it knows no match and no message."""
