"""Communities of networks by formula."""
