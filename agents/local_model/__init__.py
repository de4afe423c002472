"""A small chat model that runs on this machine, served like any other: OpenAI's protocol on the loopback interface."""
