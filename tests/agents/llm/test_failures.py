"""What endpoints' refusals mean, in the words that they use."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agents.llm.contract import FailureKind
from agents.llm.failures import MESSAGE_LENGTH, failure_in_reply, failure_of


def said(message: str, **more: Any) -> str:
    return json.dumps({"error": {"message": message, **more}})


OVERFLOWS = [
    (
        400,
        said("This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens."),
    ),
    (400, said("Your input exceeds the context window of this model.", code="context_length_exceeded")),
    (400, said("no room", code="context_length_exceeded")),
    (400, said("prompt is too long: 213462 tokens > 200000 maximum", type="invalid_request_error")),
    (400, said("input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000")),
    (
        400,
        json.dumps([{"error": {"code": 400, "message": "The input token count (1200000) exceeds the maximum number"}}]),
    ),
    (400, said("<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]")),
    (400, said("the request exceeds the available context size (4096 tokens)", type="exceed_context_size_error")),
    (
        400,
        said("Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length"),
    ),
    (400, said("Please reduce the length of the messages or completion.")),
    (400, said("This model's maximum prompt length is 131072 but the request contains 537812 tokens.")),
    (400, said("The decoder prompt (length 5000) is longer than the maximum model length of 4096.")),
    (
        400,
        json.dumps({"object": "error", "message": "This model's maximum context length is 4096 tokens", "code": 400}),
    ),
    (413, said("Request too large")),
    (413, "<html>Payload Too Large</html>"),
    (422, said("Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096")),
    (500, said("context size exceeded")),
]
QUOTAS = [
    (
        429,
        said("You exceeded your current quota, please check your plan and billing details.", code="insufficient_quota"),
    ),
    (429, said("You exceeded your current quota, please check your plan and billing details.")),
    (429, said("Your account has insufficient balance")),
    (402, said("Insufficient credits. Add more using https://...")),
    (402, ""),
    (400, said("Your credit balance is too low to access the API", type="invalid_request_error")),
    (403, said("Key limit exceeded (monthly limit).")),
    (400, said("Access denied, please make sure your account is in good standing.", code="Arrearage")),
]
LIMITS = [
    (429, said("Rate limit reached for requests per min (RPM): Limit 3, Used 3", code="rate_limit_exceeded")),
    (429, said("You exceeded your current quota, please check your plan and billing details. Please retry in 34.07s.")),
    (429, said("Quota exceeded for metric: requests per minute")),
    (429, ""),
    (429, "<html>Too Many Requests</html>"),
]
OTHERS = [
    (401, said("Incorrect API key provided"), FailureKind.AUTHENTICATION),
    (401, "", FailureKind.AUTHENTICATION),
    (403, said("Country, region, or territory not supported"), FailureKind.AUTHENTICATION),
    (
        400,
        said("API key not valid. Please pass a valid API key.", status="INVALID_ARGUMENT"),
        FailureKind.AUTHENTICATION,
    ),
    (403, said("Your chosen model requires moderation and your input was flagged"), FailureKind.BAD_REQUEST),
    (404, said("The model `gpt-9` does not exist", code="model_not_found"), FailureKind.MODEL_NOT_FOUND),
    (400, said("openai/gpt-9 is not a valid model ID", code=400), FailureKind.MODEL_NOT_FOUND),
    (404, "", FailureKind.MODEL_NOT_FOUND),
    (400, said("Unsupported value: 'temperature' does not support 0.7 with this model."), FailureKind.BAD_REQUEST),
    (422, said("tools.0.function.parameters: field required"), FailureKind.BAD_REQUEST),
    (529, said("Overloaded", type="overloaded_error"), FailureKind.OVERLOADED),
    (503, "", FailureKind.OVERLOADED),
    (500, said("The engine is currently overloaded"), FailureKind.OVERLOADED),
    (500, said("The server had an error"), FailureKind.SERVER_ERROR),
    (502, "<html>Bad Gateway</html>", FailureKind.SERVER_ERROR),
    (504, "", FailureKind.TIME_OUT),
    (408, said("Your request timed out"), FailureKind.TIME_OUT),
    (409, "", FailureKind.SERVER_ERROR),
]


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        *((status, body, FailureKind.CONTEXT_OVERFLOW) for status, body in OVERFLOWS),
        *((status, body, FailureKind.QUOTA_EXHAUSTED) for status, body in QUOTAS),
        *((status, body, FailureKind.RATE_LIMITED) for status, body in LIMITS),
        *OTHERS,
    ],
)
def test_a_refusal_is_recognised_by_status_and_words(status: int, body: str, kind: FailureKind) -> None:
    assert failure_of(status, body, {}).kind is kind


def test_a_quota_that_comes_back_by_itself_is_a_rate_limit() -> None:
    words = said("You exceeded your current quota, please check your plan and billing details.")
    assert failure_of(429, words, {"retry-after": "12"}).kind is FailureKind.RATE_LIMITED
    spent = said("You exceeded your current quota.", code="insufficient_quota")
    assert failure_of(429, spent, {"retry-after": "12"}).kind is FailureKind.QUOTA_EXHAUSTED


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"code": 502, "message": "Provider returned error"}, FailureKind.SERVER_ERROR),
        ({"code": 429, "message": "slow down"}, FailureKind.RATE_LIMITED),
        ({"code": "429", "message": "slow down"}, FailureKind.RATE_LIMITED),
        ({"code": 402, "message": "no credits"}, FailureKind.QUOTA_EXHAUSTED),
        ({"code": "server_error", "message": "sorry"}, FailureKind.SERVER_ERROR),
        ("something broke", FailureKind.SERVER_ERROR),
    ],
)
def test_an_error_inside_a_reply_means_what_its_code_means(error: Any, kind: FailureKind) -> None:
    assert failure_in_reply(error).kind is kind


def test_the_message_is_one_short_line_of_the_endpoints_own_words() -> None:
    told = failure_of(400, said("no\n\n  such\tthing"), {}).message
    assert told == "HTTP 400: no such thing"
    assert failure_of(502, "<html><h1>Bad</h1>\n<p>Gateway</p></html>", {}).message == "HTTP 502: Bad Gateway"
    assert len(failure_of(400, said("word " * 10_000), {}).message) <= MESSAGE_LENGTH + len("HTTP 400: ")
    upstream = failure_of(502, said("Provider returned error", metadata={"raw": "the GPU is on fire"}), {})
    assert "the GPU is on fire" in upstream.message
