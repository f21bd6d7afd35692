"""The version of this client, which is that of the Skillcell it was made with."""

VERSION = "0.1.0"
