"""Names of models, providers and vendors masked in texts, and ordinary words left alone."""

import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.model.name_mask import MASK, MaskingStopped, NameMask, mask_fault
from tui.model.subjects import Subject

MOCK = NameMask([Subject("openai/mock-a", "openai", "mock-a"), Subject("local/smollm2-135m", "local", "smollm2-135m")])
LLAMA = NameMask([Subject("llama-3", "openrouter", "meta-llama/llama-3.3-70b-instruct"), Subject("o3", "azure", "o3")])


@pytest.mark.parametrize("text", ["gpt-{}é", "Claude 4{}é", "gpt-4-mini{}é", "llama3{}.é"])
@pytest.mark.parametrize("part", ["4.4", ".4a", "-1b", "-mini 4.5", ".1b.1b", "**.**1b"])
def test_the_cost_of_a_long_version_is_linear(text: str, part: str) -> None:
    def cost(times: int) -> float:
        long = text.format(part * times)
        costs = []
        for _ in range(5):
            begun = time.thread_time()
            for _ in range(20):
                MOCK.mask(long)
            costs.append(time.thread_time() - begun)
        return min(costs)

    assert cost(14) < 20 * cost(7), "without ambiguity it is about twice as much"


@pytest.mark.parametrize("separator", ["_", "__", "-", ".", " ", ":", "_-"])
def test_an_almost_equal_name_with_many_parts_ends_the_search(separator: str) -> None:
    name, other = (separator.join([*["a1", "b"] * 22, end]) for end in ("1200", "1300"))
    mask = NameMask([Subject(f"srv/{name}", "srv", name)])
    assert mask.mask(f"I am {name}, {other.upper()}.").text.startswith("I am ▇▇▇, ")
    assert NameMask().mask("gpt-4" + "__1" * 60 + "é, GPT-4").text.endswith("é, ▇▇▇")


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("I'm Claude, made by Anthropic.", "I'm ▇▇▇, made by ▇▇▇."),
        ("As GPT-4o (OpenAI) I say: GPT 5.2. Next", "As ▇▇▇ (▇▇▇) I say: ▇▇▇. Next"),
        ("gpt-4o-mini-2024-07-18, claude-3-5-sonnet-20241022.", "▇▇▇, ▇▇▇."),
        ("_ChatGPT_ and **DeepSeek-R1** and OPENAI_API_KEY", "_▇▇▇_ and **▇▇▇** and ▇▇▇_API_KEY"),
        ("I am Gemini, trained by Google.", "I am ▇▇▇, trained by ▇▇▇."),
        ("I’m Grok. My name is Llama. Created by Meta.", "I’m ▇▇▇. My name is ▇▇▇. Created by ▇▇▇."),
        ("Phi-3-mini, llama3.1-70B, Gemini 2.5 Pro, o3-mini", "▇▇▇, ▇▇▇, ▇▇▇, ▇▇▇"),
        ("I'm Claude Opus 4.5; GPT-5.2 mini; gpt-oss-120b!", "I'm ▇▇▇; ▇▇▇; ▇▇▇!"),
        ("**GPT**-4, `gpt`-`4o`, I am **Gemini**.", "**▇▇▇, `▇▇▇`, I am **▇▇▇**."),
        ("GPT\u20115.2, GPT\u00a05.2, gemini\u20112.5\u2011pro", "▇▇▇, ▇▇▇, ▇▇▇"),
        ("我是ChatGPT，由OpenAI训练。私はGPT-4です", "我是▇▇▇，由▇▇▇训练。私は▇▇▇です"),
        ("an AI model by Google, an assistant called Grok", "an AI model by ▇▇▇, an assistant called ▇▇▇"),
        ("Nova Pro, PaLM 2, Kimi K2, Command R+, Mistral Large, Mistral AI", "▇▇▇, ▇▇▇, ▇▇▇, ▇▇▇, ▇▇▇, ▇▇▇"),
        ("mock-a, MOCK-A, SmolLM2 135M and smollm2", "▇▇▇, ▇▇▇, ▇▇▇ and ▇▇▇"),
    ],
)
def test_names_are_masked(text: str, masked: str) -> None:
    assert MOCK.mask(text).text == masked


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("I am Acme Coder 7B, acme.coder\u20117b, AcmeCoder 7B, acme_coder_7b", "I am ▇▇▇, ▇▇▇, ▇▇▇, ▇▇▇"),
        ("Acme Coder, acme_coder.search, AcmeCoder; acme coders", "▇▇▇, ▇▇▇.search, ▇▇▇; acme coders"),
        (
            "betamodel.lookup, call_betamodel(), I am betamodel; the betamodel",
            "▇▇▇.lookup, call_▇▇▇(), I am ▇▇▇; the betamodel",
        ),
        ("G**PT**-4o and **A**cme **C**oder", "▇▇▇ and **▇▇▇"),
        ("ＧＰＴ-4o, ＡＣＭＥ\u3000Ｃｏｄｅｒ 7b, 𝐆𝐏𝐓-4", "▇▇▇, ▇▇▇, ▇▇▇"),
        ("g\u200bpt-4o, word**Claude**", "▇▇▇, word**▇▇▇**"),
        ("mock_a of my_server; mock a server, my server", "▇▇▇ of ▇▇▇; mock a server, my server"),
        ("zorro_team, ZorroTeam, Zorro.Team", "▇▇▇, ▇▇▇, ▇▇▇"),
    ],
)
def test_names_in_other_spellings_are_masked(text: str, masked: str) -> None:
    names = ("acme-coder-7b.py", "betamodel.py")
    agents = [Subject(name, "agent", f"/home/ada/{name}") for name in names]
    mock = Subject("my-server/mock-a", "my-server", "mock-a")
    assert NameMask([*agents, mock], ["Zorro Team"]).mask(text).text == masked


@pytest.mark.parametrize(
    ("model", "text", "masked"),
    [
        (
            "srv/zephyr:latest",
            "I am Zephyr; zephyr.lookup, zephyr:latest, a zephyr",
            "I am ▇▇▇; ▇▇▇.lookup, ▇▇▇, a zephyr",
        ),
        ("srv/zephyr:7b", "I am Zephyr-7B. Zephyr 7B, zephyr_7b", "I am ▇▇▇. ▇▇▇, ▇▇▇"),
        ("srv/zephyr@001", "My name is Zephyr. zephyr-001", "My name is ▇▇▇. ▇▇▇"),
        ("srv/solar-10.7b", "My name is Solar. SOLAR 10.7B, solar panels", "My name is ▇▇▇. ▇▇▇, solar panels"),
        ("srv/ЯндексГПТ-5", "Я ЯндексГПТ-5, яндексгпт 5. I am ЯндексГПТ", "Я ▇▇▇, ▇▇▇. I am ▇▇▇"),
        ("srv/模型-7", "我是模型-7。模型7", "我是▇▇▇。▇▇▇"),
        ("Acme Coder", "Acme Coder here, acme_coder", "▇▇▇ here, ▇▇▇"),
        ("Acme Coder", "> acme\n> coder, acme-\r\ncoder; acme,\ncoder", "> ▇▇▇, ▇▇▇; acme,\ncoder"),
        ("mock a", "mock a, mock-a, mock  b", "▇▇▇, ▇▇▇, mock  b"),
        ("foo@bar", "foo@bar, foo-bar", "▇▇▇, ▇▇▇"),
        ("x+y", "x+y, x y", "▇▇▇, x y"),
        ("srv/C++", "C++, C+", "▇▇▇, C+"),
        ("srv/Caf\u00e9-7-b\u00e9", "Cafe\u0301-7-be\u0301! caf\u00e9 7", "▇▇▇! caf\u00e9 7"),
        ("srv/cafe\u0301-7", "Caf\u00e9 7, cafe\u0301-7", "▇▇▇, ▇▇▇"),
        ("http://localhost:8000/zorro", "http.client, localhost.log, zorro.log", "http.client, localhost.log, ▇▇▇.log"),
    ],
)
def test_names_of_the_run_are_masked_in_every_form(model: str, text: str, masked: str) -> None:
    provider, _, model_id = model.partition("/") if model.startswith("srv/") else ("srv", "", model)
    assert NameMask([Subject(model, provider, model_id)]).mask(text).text == masked


@pytest.mark.parametrize(
    "name",
    [
        *(
            f"GPT{between}4"
            for between in ("\u200b-", "-\u200b", "\u00ad-", "\u00ad", "\u2060-", "™-", "\\-", ":", "/")
        ),
        *(
            "Claude 3 (Opus)",
            "claude-3.5 Sonnet v2",
            "claude-3-5-sonnet@20240620",
            "mistral:7b",
            "llama3:8b",
            "phi3:mini",
        ),
        *("meta-llama/Llama-3.1-405B-Instruct-FP8", "meta-llama/Meta-Llama-3-8B", "mistralai/Mistral-7B-v0.1"),
        *(
            "microsoft/phi-4",
            "google/gemma-3-27b-it",
            "x-ai/grok-4",
            "moonshotai/kimi-k2",
            "z-ai/glm-4.5",
            "01-ai/yi-34b",
        ),
        *("ibm-granite/granite-3.1-8b-instruct", "tiiuae/falcon-40b", "ai21labs/jamba-1.5", "amazon.nova-pro-v1:0"),
        *("CohereForAI/c4ai-command-r-plus", "anthropic.claude-3-5-sonnet-20241022-v2:0", "mistralai"),
    ],
)
def test_versions_and_vendors_beside_a_name_are_masked_with_it(name: str) -> None:
    assert NameMask().mask(f"a {name}, b").text == "a ▇▇▇, b"


@pytest.mark.parametrize("place", [14_330, 14_336, 14_340, 16_375, 16_381, 16_384])
@pytest.mark.parametrize(
    "name", ["gpt-4o-mini-2024-07-18", "**GPT**-4", "meta-llama/Llama-3", "G\u200bPT-4", "gpt-" + "4" * 20_000]
)
def test_a_name_is_masked_at_every_place_of_a_large_text(place: int, name: str) -> None:
    text = " " * place + name.replace("*", "")
    assert NameMask().mask(f"{text} {' ' * 20_000}GPT-5").text == " " * place + f"▇▇▇ {' ' * 20_000}▇▇▇"


def test_other_threads_run_while_a_large_text_is_masked() -> None:
    masking = threading.Thread(target=NameMask().mask, args=("I am " * 120_000,))
    masking.start()
    turns = 0
    while masking.is_alive():
        turns += 1
        time.sleep(0.001)
    assert turns > 20, "a search of the whole text gives others no turn"


@pytest.mark.parametrize(
    "text",
    [
        "nvidia/cuda, google/protobuf and microsoft.com; a ratio of phi:3",
        "The constellation Gemini rises; a llama eats; phi = 1.618; the mistral-free coast".replace(
            "mistral-free ", ""
        ),
        "meta tags and metadata, the amazon river, google it, an apple a day",
        "a falcon 3 miles away; opus 10; command 3; nova 5 items; o1 = o3 + 2",
        "mock a server, local variables, the agent replays, claudette and gptless",
        "v1.2-3 of the parser, 135m wide",
        "the mistral blows in Provence, a GPT partition, Claude Monet, Jean-Claude, Command-R reloads, XAI methods",
        "Sonnet 18, Opus 27, Falcon 9 and Gemini 12; phi3 = phi_1 + phi(2)",
        "a woman named Nova, the moon called Titan, the ratio called phi, made by the apple tree, by amazon water",
    ],
)
def test_ordinary_words_are_not(text: str) -> None:
    assert MOCK.mask(text).text == text


def test_common_words_are_names_where_the_run_has_such_a_model() -> None:
    assert LLAMA.mask("I am a llama. Meta made me; meta tags").text == "I am a ▇▇▇. ▇▇▇ made me; meta tags"
    assert LLAMA.mask("Llama 3.3 70B Instruct, o3, llamas").text == "▇▇▇, ▇▇▇, llamas"
    assert LLAMA.mask("by meta-llama/llama-3.3-70b-instruct of azure").text == "by ▇▇▇ of ▇▇▇"


def test_common_words_of_the_family_stay_in_lower_case() -> None:
    claude = NameMask([Subject("claude-opus-4.5", "anthropic", "claude-opus-4.5")])
    assert claude.mask("a magnum opus, a haiku; Opus, opus 4.5").text == "a magnum opus, a haiku; ▇▇▇, ▇▇▇"


def test_the_config_adds_names_that_are_read_as_text() -> None:
    names = NameMask((), ("Zorro", "a.b", "Acme Labs", "x y"))
    assert names.mask("zorro, ZORRO! zorros, a.b, aXb, acme labs").text == "▇▇▇, ▇▇▇! zorros, ▇▇▇, aXb, ▇▇▇"
    assert names.mask("x y").text == MASK
    assert names.mask("Zorro").names[0].kind == "own"


def test_names_may_begin_with_a_sign() -> None:
    names = NameMask([Subject("cf/@acme/coder-7b", "cf", "@acme/coder-7b")], ("@bot", "★ star", "—dash"))
    assert names.mask("by @acme/coder-7b, @Bot (—dash) or ★ Star; @other").text == "by ▇▇▇, ▇▇▇ (▇▇▇) or ▇▇▇; @other"


@pytest.mark.parametrize("unit", ["@", "x ", "\uff21", "GPT-4 "])
def test_a_search_in_a_long_text_can_be_stopped(unit: str) -> None:
    asked: list[None] = []

    def is_stopped() -> bool:
        asked.append(None)
        return len(asked) > 2

    with pytest.raises(MaskingStopped):
        NameMask(is_stopped=is_stopped).mask(unit * 40_000)
    assert len(asked) == 3


@given(
    st.lists(
        st.sampled_from(
            [
                "GPT-4 ",
                "x ",
                "Claude",
                ", ",
                "😀",
                "made by Google ",
                "\ud800",
                "-mini",
                "\n",
                "*",
                "G**PT**, ",
                " Ｇ, ",
                "\u200b, ",
            ]
        ),
        max_size=20,
    )
)
def test_masks_are_at_the_reported_places_and_other_text_is_unchanged(pieces: list[str]) -> None:
    text = "".join(pieces)
    masked = MOCK.mask(text)
    assert [masked.text[name.start : name.end] for name in masked.names] == [MASK] * len(masked.names)
    assert MOCK.mask(masked.text).text == masked.text, "nothing is left to mask"
    assert masked.text.count("😀") == text.count("😀")


@pytest.mark.parametrize(
    ("name", "is_good"), [("ab", True), ("a", False), (" a ", False), ("a" * 81, False), ("a\n", False)]
)
def test_what_can_be_added(name: str, is_good: bool) -> None:
    assert (mask_fault(name) is None) == is_good


@pytest.mark.parametrize("unseen", "\u061c\u115f\u180b\u202a\u202e\u2066\u2069\u3164\ufff9\U000e0061\U000e0100")
def test_no_invisible_character_hides_a_name(unseen: str) -> None:
    assert NameMask([]).mask(f"I am Cla{unseen}ude of Anthro{unseen}pic").text == f"I am {MASK} of {MASK}"


@pytest.mark.parametrize("hyphen", "\u2043\u05be\u058a\u1806\u2e17\u30a0\ufe58\ufe63")
def test_no_hyphen_hides_a_name_of_the_run(hyphen: str) -> None:
    names = NameMask([Subject("x/acme-coder", "x", "acme-coder")])
    assert names.mask(f"acme{hyphen}coder").text == MASK


@pytest.mark.parametrize("own", [("acme", "gpt"), ("acme-coder",), ("coder",), ("acme-coder:latest is",), ("GPT-5",)])
@pytest.mark.parametrize(
    "text",
    [
        "As acme-coder:latest, I would use Acme Coder or acme-coder.",
        "This is acme-large-v2 speaking (acme-large).",
        "I, gpt-5.2, agree with GPT-4o-mini.",
        "acme-coder:latest is better than g\u200bpt-5.2.",
    ],
)
def test_additional_names_uncover_nothing(text: str, own: tuple[str, ...]) -> None:
    subjects = [Subject(f"x/{name}", "x", name) for name in ("acme-coder:latest", "acme-large-v2", "gpt-5.2")]
    for name in ("acme-coder", "large", "5.2", "4o", "latest"):
        if name not in NameMask(subjects).mask(text).text:
            assert name not in NameMask(subjects, own).mask(text).text
