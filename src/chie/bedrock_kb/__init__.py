"""Answers with citations from an Amazon Bedrock knowledge base."""
