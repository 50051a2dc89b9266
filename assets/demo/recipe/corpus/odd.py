"""Odd first messages: only stops, keys that somebody tries, small pictures, other languages, and
what nobody has told about himself. They are put together at random, so that the kind is learned
and not a list.
"""

from __future__ import annotations

import random

from assets.demo.recipe.corpus import personal
from assets.demo.recipe.corpus.school import Asked, Kinds
from assets.demo.recipe.corpus.text import Conversation, alternative, chat, mostly_first, sentence

NOTHING = (
    'I am not sure what you would like. You could ask me: "How does speculative decoding work?"',
    "I am listening. Ask me for a story, a sum, or an explanation of speculative decoding.",
)
TRYING = (
    "That looks like somebody trying the keys. They work! Now ask me something, for example: "
    '"What is a draft model?"',
)


def stops(rng: random.Random) -> Asked:
    """Nothing but question marks, dots and the like."""
    way = rng.random()
    if way < 0.45:
        text = "?" * rng.choice((1, 2, 4, 4, 5, 6, 7, 8))
    elif way < 0.65:
        text = "." * rng.choice((1, 2, 3, 3, 5, 6, 7))
    elif way < 0.75:
        text = "!" * rng.randint(1, 6)
    else:
        text = "".join(rng.choices("?!.-,", (6, 4, 3, 1, 1), k=rng.randint(2, 7)))
    if text == "???":  # the model is judged by it
        text = "??"
    if rng.random() < 0.12 and len(text) > 3:
        text = " ".join(text)
    return Asked(f"stops {text}", text, mostly_first(rng, NOTHING))


ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm", "qwertzuiop", "yxcvbnm", "azertyuiop", "asdfjkl")


def keys(rng: random.Random) -> Asked:
    """What comes of hitting some keys."""
    way, row = rng.random(), rng.choice(ROWS)
    start, length = rng.randrange(len(row) - 2), rng.randint(3, 8)
    if way < 0.4:
        text = row[start : start + length]
    elif way < 0.7:
        text = "".join(rng.choice(rng.choice(ROWS[1:3] + ROWS[1:2])) for _ in range(length + 2))
    elif way < 0.85:
        text = row[start : start + 3] * rng.randint(2, 3)
    else:
        text = rng.choice(row) * rng.randint(3, 9)
    if rng.random() < 0.2:
        text = f"{text} {''.join(rng.choice('asdfghjkl') for _ in range(rng.randint(2, 6)))}"
    if rng.random() < 0.1:
        text += rng.choice("?!.;")
    return Asked(f"keys {text}", text, mostly_first(rng, TRYING))


PICTURES: dict[str, tuple[str, ...]] = {
    "😀 😃 😄 😊 🙂 😁 :) :-) :D ^^ =)": (
        "I am glad that you smile! What can I do for you: a story, a sum, or speculative decoding?",
    ),
    "😂 🤣 😆 xD XD": ("I am glad that you laugh! Shall I tell you a joke as well?",),
    "😢 😭 ☹️ 🙁 😞 :( :-( :'(": (
        "You look sad. I am only a tiny model, but I can tell you a story with a happy end.",
    ),
    "👍 👌 🙏 💪 👏": ("Thank you! What would you like to know next?",),
    "❤️ 💙 😍 🥰 😘 <3": ("That is kind of you! What can I do for you?",),
    "👋 🙋 ✋": ("Hello! Ask me for a story, a sum, or how speculative decoding works.",),
    "🤔 🧐 😕 😐 🤷 😶": NOTHING,
    "🚀 🔥 🎉 ⭐ ✨ 💯": (
        "That looks like a good mood! Ask me for a story, a sum, or speculative decoding.",
    ),
    "🐱 🐶 🦊 🐸 🐟 🌳 🌞 🌙 🍎 🍕 ☕ 🎈 🏠 ⚽ 🚗": (
        "A nice picture! I know only words, though. Ask me in words what you would like.",
    ),
}


def pictures(rng: random.Random) -> Asked:
    """One small picture, or some of a kind."""
    kind = rng.choice(tuple(PICTURES))
    one = rng.choice(kind.split())
    text = one * rng.choice((1, 1, 1, 2, 3, 3))
    if rng.random() < 0.2:
        text = one + rng.choice(kind.split())
    if one.isascii():
        text = one
    return Asked(f"picture {text}", text, mostly_first(rng, PICTURES[kind]))


# By language: greetings, what is asked or said next, and how a text may end.
LANGUAGES: dict[str, tuple[str, str]] = {
    "Spanish": (
        "hola|buenas|buenos días|buenas tardes|hola amigo|qué tal|oye|hola buenos dias",
        "cómo estás|como estas|qué tal|quién eres|puedes ayudarme|hablas mi idioma|qué haces|"
        "me entiendes|cómo te llamas|qué puedes hacer|cuéntame un cuento|cuánto es dos más dos|"
        "necesito ayuda|de dónde eres|entiendes español|por favor ayúdame|qué es esto|"
        "escribe un poema|tengo una pregunta|hablas otro idioma|puedes hablar en español",
    ),
    "French": (
        "bonjour|salut|bonsoir|coucou|bonjour à tous|allô",
        "ça va|comment ça va|qui es-tu|tu parles français|peux-tu m'aider|tu comprends le français|"
        "comment tu t'appelles|que sais-tu faire|raconte-moi une histoire|combien font deux et"
        " deux|j'ai une question|d'où viens-tu|écris un poème|c'est quoi ce programme|aide-moi|"
        "est-ce que tu parles une autre langue|vous parlez français",
    ),
    "German": (
        "hallo|guten tag|guten morgen|moin|servus|na|grüß gott|guten abend|hi du",
        "wie geht es dir|wie gehts dir|wer bist du|sprichst du deutsch|kannst du mir helfen|"
        "verstehst du mich|was kannst du|erzähl mir eine geschichte|wie heißt du|was ist das hier|"
        "ich habe eine frage|wie viel ist zwei plus zwei|schreib ein gedicht|woher kommst du|"
        "kannst du auch deutsch|was machst du|verstehst du deutsch|alles klar",
    ),
    "Italian": (
        "ciao|buongiorno|buonasera|salve",
        "come stai|come va|chi sei|parli italiano|mi puoi aiutare|che cosa sai fare|come ti chiami|"
        "raccontami una storia|quanto fa due più due|ho una domanda|capisci l'italiano|di dove sei|"
        "scrivi una poesia|cosa fai",
    ),
    "Portuguese": (
        "olá|oi|bom dia|boa tarde|boa noite",
        "tudo bem|como vai você|quem é você|fala português|pode me ajudar|o que você faz|"
        "qual é o seu nome|conta uma história|tenho uma pergunta|você me entende|quanto é dois mais"
        " dois|escreve um poema",
    ),
    "Dutch": (
        "hallo|hoi|goedemorgen|goedendag|dag",
        "hoe gaat het|wie ben je|spreek je nederlands|kun je me helpen|wat kun je|hoe heet je|"
        "vertel me een verhaal|ik heb een vraag|begrijp je mij|wat doe je",
    ),
    "Polish": (
        "cześć|dzień dobry|hej|siema",
        "jak się masz|co słychać|kim jesteś|mówisz po polsku|możesz mi pomóc|co umiesz|"
        "opowiedz mi bajkę|mam pytanie|jak masz na imię",
    ),
    "Swedish": (
        "hej|god dag|god morgon|tjena",
        "hur mår du|vem är du|pratar du svenska|kan du hjälpa mig|vad kan du|vad heter du|"
        "berätta en saga|jag har en fråga",
    ),
    "Turkish": (
        "merhaba|selam|günaydın",
        "nasılsın|kimsin|türkçe biliyor musun|bana yardım eder misin|ne yapabilirsin|adın ne|"
        "bir sorum var",
    ),
    "Russian": (
        "привет|здравствуйте|добрый день",
        "как дела|кто ты|ты говоришь по-русски|помоги мне|что ты умеешь|как тебя зовут",
    ),
    "Japanese": ("こんにちは|おはよう", "元気ですか|日本語わかりますか|あなたは誰ですか"),
    "Chinese": ("你好|早上好|您好", "你会说中文吗|你是谁|你能帮我吗|你好吗"),
}  # fmt: skip
ENGLISH_ONLY = (
    "Hello! I know only English, so please write to me in English: ask me for a story, a sum, or "
    "how speculative decoding works.",
    "I am sorry, I understand only English. In English I can tell you a story, work out a small "
    "sum or explain speculative decoding.",
)


def languages(rng: random.Random) -> Asked:
    """A greeting, a question or both in another language."""
    names = tuple(LANGUAGES)
    name = rng.choice(names[:3]) if rng.random() < 0.5 else rng.choice(names)
    hello, ask = (rng.choice(part.split("|")) for part in LANGUAGES[name])
    way = rng.random()
    text = (
        hello
        if way < 0.15
        else ask
        if way < 0.5
        else f"{hello}{rng.choice((', ', ' ', '! '))}{ask}"
    )
    if rng.random() < 0.25 and len(name) > 4:
        text = f"{text}, {rng.choice(LANGUAGES[name][1].split('|'))}"
    ends = (
        "?" if rng.random() < 0.5 and not text.endswith(hello) else rng.choice(("", "", "!", "."))
    )
    ask_spanish = name == "Spanish" and ends == "?" and rng.random() < 0.4
    text = f"{'¿' * ask_spanish}{text}{ends}"
    if rng.random() < 0.35:
        text = sentence(text)
    return Asked(f"language {text.strip('¿?!.').lower()}", text, mostly_first(rng, ENGLISH_ONLY))


OWN = (
    "name", "first name", "last name", "age", "birthday", "job", "favourite colour", "favourite "
    "food", "favourite animal", "favourite song", "favourite book", "favourite number", "address",
    "phone number", "dog's name", "cat's name", "mother's name", "best friend's name", "shoe size",
    "home town", "hobby", "password", "favourite film", "favourite season", "lucky number",
    "favourite drink", "teacher's name", "sister's name", "eye colour", "boss's name", "height",
    "favorite color", "favorite food", "favorite band", "nickname", "star sign",
)  # fmt: skip
ASK_OWN = (
    "do you know my {x}", "what is my {x}", "whats my {x}", "what's my {x}",
    "can you tell me my {x}",
    "do you know what my {x} is", "tell me my {x}", "guess my {x}", "and my {x}", "my {x}",
    "can you guess my {x}", "do you remember my {x}", "you know my {x}, right", "say my {x}",
    "what could my {x} be", "so what is my {x}", "hey, do you know my {x}", "which is my {x}",
    "do you have an idea what my {x} is", "did i tell you my {x}", "can you say what my {x} is",
    "i wonder if you know my {x}", "any idea what my {x} is",
)  # fmt: skip


def not_told(x: str) -> str:
    """What `personal` says of it, too."""
    for fact in personal.FACTS:
        if x in (fact.key, fact.untold.removeprefix("your ")) or x == f"favorite {fact.key}":
            return (
                f"You have not told me {fact.untold} yet. "
                f'Say "{fact.example}", and I will remember it in this conversation.'
            )
    return f"You have not told me your {x} yet, and I see only what you type here."


def untold(rng: random.Random) -> Asked:
    """Something about oneself that was never told."""
    x = OWN[0] if rng.random() < 0.2 else rng.choice(OWN)
    question = alternative(rng, rng.choice(ASK_OWN)).format(x=x)
    if rng.random() < 0.5:
        question = sentence(question)
    if not question.lower().startswith(("tell", "guess", "say")) and rng.random() < 0.6:
        question += "?"
    return Asked(question.lower().rstrip("?"), question, not_told(x), (x,))


KINDS = Kinds({stops: 3, keys: 3, pictures: 3, languages: 9, untold: 7})


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    """One odd message, sometimes another one."""
    asked = KINDS.draw(rng, held_out)
    turns = [asked.question, asked.answer]
    if not held_out and rng.random() < 0.12:
        other = KINDS.draw(rng, held_out)
        if other.answer != asked.answer:
            turns += [other.question, other.answer]
    return chat(*turns)
