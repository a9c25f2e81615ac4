"""The index providers: CSI, CNI and the industry classification."""
