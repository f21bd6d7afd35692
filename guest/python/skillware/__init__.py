"""Stand-in for the Skillware package, so that its bundles load unmodified. Written for Skillcell."""
