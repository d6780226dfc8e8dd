"""The prompts that the conformance suite asks for."""

from fastmcp.prompts.base import Message
from mcp_types import EmbeddedResource, ImageContent, TextResourceContents

from chie.mcp_kit.server import Server


def declare_prompts(server: Server, image: ImageContent) -> None:
    @server.prompt(description="Plain.")
    def test_simple_prompt() -> str:
        return "This is a simple prompt for testing."

    @server.prompt(description="With arguments.")
    def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
        return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"

    @server.prompt(description="With a resource.")
    def test_prompt_with_embedded_resource(resourceUri: str) -> list[Message]:  # noqa: N803 - the suite's name
        contents = TextResourceContents(
            uri=resourceUri, mime_type="text/plain", text="Embedded resource content for testing."
        )
        resource = EmbeddedResource(type="resource", resource=contents)
        return [Message(resource), Message("Please process the embedded resource above.")]

    @server.prompt(description="With an image.")
    def test_prompt_with_image() -> list[Message]:
        return [Message(image), Message("Please analyze the image above.")]
