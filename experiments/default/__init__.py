"""What the default of the library is settled by."""
