"""Methods of global recoding, which search a lattice of levels or of items."""
