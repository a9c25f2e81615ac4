"""What was written, by which run and from which inputs."""
