"""The model servers that people run on their own machine, with the ports that they use by default."""

THIS_MACHINE = "127.0.0.1"
LM_STUDIO = f"http://{THIS_MACHINE}:1234/v1"
OLLAMA = f"http://{THIS_MACHINE}:11434/v1"


def urls_on(host: str) -> tuple[str, str]:
    """The URLs of LM Studio and Ollama on another host, such as the machine around a container."""
    moved = host.strip() or THIS_MACHINE
    return LM_STUDIO.replace(THIS_MACHINE, moved, 1), OLLAMA.replace(THIS_MACHINE, moved, 1)
