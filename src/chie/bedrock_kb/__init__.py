"""Answers with citations from an Amazon Bedrock Knowledge Base."""
