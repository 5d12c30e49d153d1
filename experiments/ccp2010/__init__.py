"""What ConsensusClusterPlus makes of its example choices."""
