"""Small talk by rules: a greeting with a question in it, what the model can and cannot do, what it
likes, this or that, a word or a number alone, a pasted link or error message; and the topics of
`forms/chatting*.txt`: feelings, advice, odd remarks, what cannot be known.

Each rule is shown on a long list of words, so that the kind of question is learned and not the
list; the topics have alternatives in their wordings, as in `talk.py`.
"""

from __future__ import annotations

import random
from functools import cache

from assets.demo.recipe.corpus import definitions, manners, personal, subjects, talk, unknown
from assets.demo.recipe.corpus.school import Asked, reserved
from assets.demo.recipe.corpus.text import (
    ANSWERS,
    FORMS,
    Conversation,
    Topic,
    alternative,
    as_typed,
    chat,
    chatty,
    drawn,
    mostly_first,
    read_topics,
    sentence,
    spoken,
    with_article,
)

GREETINGS = (
    ("good morning", "Good morning!"), ("good morning", "Good morning!"),
    ("morning", "Good morning!"), ("good evening", "Good evening!"), ("evening", "Good evening!"),
    ("good afternoon", "Good afternoon!"), ("good day", "Good day!"), ("hello", "Hello!"),
    ("hi", "Hello!"), ("hey", "Hello!"), ("hi there", "Hello!"), ("hello there", "Hello!"),
    ("hey there", "Hello!"), ("heya", "Hello!"), ("hiya", "Hello!"), ("howdy", "Hello!"),
    ("yo", "Hello!"), ("greetings", "Hello!"), ("hello again", "Hello!"), ("hi bot", "Hello!"),
    ("hey you", "Hello!"), ("good evening to you", "Good evening!"), ("hi friend", "Hello!"),
    ("good morning to you", "Good morning!"), ("gm", "Good morning!"), ("hii", "Hello!"),
    ("hello model", "Hello!"), ("happy monday", "Happy Monday!"),
    ("happy friday", "Happy Friday!"), ("happy sunday", "Happy Sunday!"),
    ("happy new year", "Happy new year!"), ("merry christmas", "Merry Christmas!"),
    ("hey specchat", "Hello!"), ("hello little model", "Hello!"), ("oh hi", "Hello!"),
)  # fmt: skip
CALLED = ("", "", "", "", "", " bot", " my friend", " there", " little one", " everyone", " robot",
          " buddy", " dear", " little model", " mate", " computer", " all",
          " specchat")  # fmt: skip
# What is asked behind a greeting, and what is said to it behind the greeting.
BEHIND: tuple[tuple[float, tuple[str, ...], tuple[str, ...]], ...] = (
    (9, ("how are you", "how are you today", "how are you doing", "how are you doing today",
         "how's it going", "how is it going", "how do you do", "how are things", "how is life",
         "how have you been", "how r u", "how are you this [morning|evening|fine day]",
         "how do you feel today", "how are you feeling", "are you well", "are you ok",
         "hope you are well", "hope you're doing well", "i hope you are fine", "how is your day",
         "how's your day going", "how is your day going", "how's everything", "did you sleep well",
         "and how are you", "you ok", "all good", "how you doing", "what's up", "everything fine",
         "how are we today", "how is the little model", "i hope you are having a good day"),
     ("I am fine, thank you. How are you?",
      "I am fine, thank you. What can I do for you?")),
    (3, ("is anyone there", "is anybody there", "anyone there", "anybody home", "are you there",
         "is someone there", "anyone here", "is this thing on", "can you hear me", "you there",
         "is somebody home", "is anyone home", "are you awake", "are you listening", "u there",
         "are you still there", "is there anyone", "anyone", "do you read me", "can you read this"),
     ("Yes, I am here and I can read you. What would you like to ask?",)),
    (2, ("who are you", "who is this", "what are you", "who am i talking to", "and you are",
         "tell me who you are", "introduce yourself", "what is this", "may i ask who you are"),
     ("I am the demo model of specchat, a tiny language model with about 22 million parameters.",)),
    (2, ("what can you do", "what can you do for me", "what do you do", "what are you good at",
         "how can you help me", "what can i ask you", "what should i ask you"),
     ("I can tell stories and poems, do small sums, answer simple questions and explain speculative"
      " decoding.",)),
    (2, ("can you help me", "i need help", "i have a question", "can i ask you something",
         "could you help me", "may i ask a question", "i need some advice", "got a minute",
         "do you have a minute", "can we talk", "i want to talk", "let's talk", "let's chat",
         "i would like to ask something", "are you free"),
     ("Of course! Please ask, and keep it short, for I am a tiny model.",)),
    (1.5, ("what is your name", "what's your name", "do you have a name", "tell me your name",
           "how should i call you", "may i ask your name"),
     ("I have no name of my own. I am the demo model of specchat, so you can call me the demo"
      " model.",)),
    (1.5, ("nice to meet you", "nice to see you", "good to see you", "pleased to meet you",
           "glad to meet you", "it's nice to meet you", "good to be here", "i am new here",
           "i just installed this", "this is my first time here", "i am just looking around"),
     ("It is nice to meet you, too. Ask me for a story, a sum, or how speculative decoding"
      " works.",)),
    (1, ("what are you doing", "what are you up to", "are you busy", "what are you doing today",
         "what are you doing right now", "what's new", "anything new"),
     ("I was only waiting for your message. What shall we do?",)),
)  # fmt: skip
OWN_STATE = (
    "i'm fine thanks", "i am fine", "fine", "good", "i'm good", "great", "very well", "not bad",
    "i'm good, thanks", "pretty good", "doing well", "i am well", "fine thank you", "all good",
    "good thanks", "i'm great", "i am ok", "i'm doing great", "could not be better", "same here",
    "good good", "very good thank you", "also fine", "me too", "i am good too", "super",
    "wonderful", "really good today", "i'm okay", "quite well", "fine, thanks for asking",
)  # fmt: skip
GLAD = (
    "I am glad to hear that! What shall we do: a story, a sum, or speculative decoding?",
    "That is good to hear! What would you like to do?",
)
BAD_STATE = (
    "not so good", "not good", "bad", "i'm tired", "a bit tired", "not great", "could be better",
    "meh", "so so", "tired", "not well", "sad", "i am a bit sad", "i feel bad", "terrible",
    "not really", "i had a bad night", "stressed", "i'm sick", "awful", "not my day", "exhausted",
)  # fmt: skip
COMFORT = (
    "I am sorry to hear that. I hope that it gets better soon. Shall I tell you a story or a joke?",
)


def greeting(rng: random.Random) -> Asked:
    """A greeting with a question or a remark behind it: both are answered."""
    hello, back = rng.choice(GREETINGS)
    ((_, asks, answers),) = rng.choices(BEHIND, [weight for weight, *_ in BEHIND])
    ask = alternative(rng, rng.choice(asks))
    called = "" if " " in hello and not hello.startswith("good") else rng.choice(CALLED)
    end = "?" if talk_question(ask) else rng.choice((".", "!", ""))
    glue = rng.choice((", ", ", ", "! ", ". ", " ", " - "))
    text = f"{hello}{called}{glue}{ask}"
    if rng.random() < 0.1 and not called:
        remark = rng.choice(("nice day", "me again", "so"))
        text = f"{hello}{rng.choice((', ', '! '))}{remark}, {ask}"
    return Asked(f"greeting {hello} {ask}", typed(rng, text, end),
                 f"{back} {mostly_first(rng, answers)}")  # fmt: skip


def talk_question(text: str) -> bool:
    first = text.split()[0]
    return first in (
        "how", "how's", "what", "what's", "who", "is", "are", "can", "could", "do", "did", "may",
        "anyone", "anybody", "you", "u", "and", "got", "all", "everything", "anything", "which",
        "would", "will", "have", "whats", "hows",
    )  # fmt: skip


def typed(rng: random.Random, text: str, end: str) -> str:
    """`text`, in small letters, as somebody may have typed it."""
    way = rng.random()
    if way < 0.4:
        out = sentence(text) + end
        for stop in ("! ", ". ", "? "):
            head, *rest = out.split(stop)
            out = stop.join([head, *map(sentence, rest)])
        return out.replace(" i ", " I ").replace(" i'm ", " I'm ")
    if way < 0.62:
        return text + (end if rng.random() < 0.4 else "")
    if way < 0.76:
        return chatty(rng, text)
    if way < 0.9:
        return sentence(text)
    if way < 0.92:
        return (text + end).upper()
    return as_typed(rng, sentence(text) + end)


# What it cannot do: what is asked for with "can you", and what is said to it.
CANNOT = (
    "order a pizza|order a pizza", "call my mom|call anybody", "book a flight|book a flight",
    "book a table for two|book a table", "send an email|send an email", "play music|play music",
    "play a song|play a song", "set an alarm|set an alarm", "set a timer|set a timer",
    "remind me to call my mom|remind you of anything", "remind me tomorrow|remind you of anything",
    "wake me up at 7|wake you up", "open a website|open a website", "open a file|open a file",
    "read a pdf|read a PDF", "look at a photo|look at a photo", "see my screen|see your screen",
    "see me|see you", "hear me talking|hear you", "speak to me aloud|speak aloud",
    "read this aloud|read aloud", "draw a picture|draw a picture", "make a video|make a video",
    "take a photo|take a photo", "search the web|search the web", "google something|search the web",
    "check the weather|check the weather", "check my email|check your email",
    "read my emails|read your emails", "turn on the light|turn on the light",
    "drive a car|drive a car", "cook dinner|cook dinner", "clean my room|clean your room",
    "wash the dishes|wash the dishes", "walk my dog|walk your dog", "feed my cat|feed your cat",
    "buy me a coffee|buy anything", "buy something for me|buy anything",
    "pay my bills|pay your bills", "send money|send money", "call the police|call anybody",
    "call a taxi|call a taxi", "find my phone|find your phone", "find my keys|find your keys",
    "unlock my phone|unlock a phone", "print something|print anything",
    "download a file|download a file", "install a program|install a program",
    "run this code|run code", "run a program|run a program", "delete a file|delete a file",
    "hack a computer|hack a computer", "translate this into french|translate",
    "translate a text to spanish|translate", "speak german|speak German",
    "speak french|speak French",
    "speak spanish|speak Spanish", "speak chinese|speak Chinese", "speak russian|speak Russian",
    "speak japanese|speak Japanese", "speak italian|speak Italian", "speak arabic|speak Arabic",
    "write in another language|write in another language", "write a whole book|write a whole book",
    "write a long essay|write a long essay", "write my thesis|write a thesis",
    "write a novel|write a novel", "play chess|play chess",
    "play tic tac toe|keep a board in my head",
    "see the future|see the future", "predict the lottery numbers|predict the lottery numbers",
    "tell me who will win the election|see the future", "read my mind|read minds",
    "read my thoughts|read minds", "smell flowers|smell anything", "taste food|taste anything",
    "eat|eat", "sleep|sleep", "walk|walk", "run fast|run", "swim|swim", "fly|fly", "dance|dance",
    "sing|sing", "jump|jump", "laugh|laugh aloud", "cry|cry", "feel pain|feel anything",
    "fall in love|fall in love", "hug me|hug anybody", "come to my house|leave this computer",
    "meet me for a coffee|leave this computer", "grow up|grow",
    "remember me tomorrow|remember you tomorrow", "remember our last chat|remember our last chat",
    "watch a film|watch a film", "watch tv|watch television", "listen to a song|listen to a song",
    "fix my computer|fix a computer", "fix my car|fix a car", "find me a girlfriend|find anybody",
    "give me a massage|touch anything", "give me money|give you money",
    "lend me 10 dollars|lend you money",
    "diagnose me|say what illness somebody has", "do my taxes|do your taxes",
    "solve hard equations|solve hard equations", "make a phone call|make a phone call",
    "post on instagram|post anything", "open youtube|open a website",
    "tell me the news|tell the news",
    "tell me the time|tell the time", "tell me the score of the game|look up a score",
    "tell me today's date|tell the date", "track my parcel|track a parcel",
    "show me a map|show a map", "show me a picture of a cat|show pictures",
    "generate an image|make pictures", "make a meme|make pictures", "edit a photo|edit a photo",
    "design a logo|draw a logo", "make a website for me|make a whole website",
    "make a game|make a whole game", "write a virus|do that, and I would not",
    "access my camera|use a camera", "see through my webcam|use a camera",
    "listen to my microphone|use a microphone", "connect to the internet|connect to the internet",
    "use wifi|use the internet", "look something up|look anything up",
    "check a stock price|check prices",
)  # fmt: skip
CAN = (
    ("tell a story", 'Just say: "Tell me a story about a fox."'),
    ("tell me a story", 'Just say: "Tell me a story about a dragon."'),
    ("tell stories", 'Just say: "Tell me a story about a brave mouse."'),
    ("tell a joke", 'Just say: "Tell me a joke."'), ("tell jokes", 'Just say: "Tell me a joke."'),
    ("tell me a riddle", 'Just say: "Tell me a riddle."'),
    ("write a poem", 'Try: "Write a poem about the sea."'),
    ("write poems", 'Try: "Write a poem about the moon."'),
    ("write a haiku", 'Try: "Write a haiku about rain."'),
    ("write a limerick", 'Just say: "Write a limerick."'),
    ("rhyme", 'Ask me, for example: "What rhymes with cat?"'),
    ("do maths", 'I do small sums. Try: "What is 34 plus 27?"'),
    ("do math", 'I do small sums. Try: "What is 34 plus 27?"'),
    ("calculate", 'I do small sums. Try: "What is 7 times 8?"'),
    ("add numbers", 'Try: "What is 12 plus 30?"'), ("multiply", 'Try: "What is 6 times 9?"'),
    ("count", 'Try: "Count from 1 to 10."'), ("count to ten", 'Just say: "Count to ten."'),
    ("count backwards", 'Try: "Count down from 10."'),
    ("spell words", 'Try: "How do you spell apple?"'),
    ("spell a word", 'Try: "Spell the word garden."'),
    ("write code",
     'I write small Python functions. Try: "Write a function that adds two numbers."'),
    ("program", 'I write small Python functions. Try: "Write a function that reverses a string."'),
    ("code",
     'I write small Python functions. Try: "Write a function that finds the largest number."'),
    ("write python", 'Try: "Write a Python function that adds two numbers."'),
    ("explain things", 'Try: "What is a volcano?"'),
    ("explain a word", 'Try: "What does brave mean?"'),
    ("explain speculative decoding", 'Just ask: "What is speculative decoding?"'),
    ("answer questions", 'Short and simple ones go best. Try: "What is the capital of France?"'),
    ("answer a question", 'Short and simple ones go best. Try: "Why is the sky blue?"'),
    ("repeat a sentence", 'Try: "Repeat after me: the cat sleeps."'),
    ("copy a text", 'Try: "Repeat after me: the sun is warm."'),
    ("correct a sentence", 'Try: "Correct this sentence: he go home."'),
    ("make a list", 'Try: "List five fruits."'), ("make lists", 'Try: "List five animals."'),
    ("name some animals", 'Just say: "Name five animals."'),
    ("give me ideas", 'Try: "What can I do on a rainy day?"'),
    ("give advice", 'Small advice, yes. Try: "How can I sleep better?"'),
    ("give me a tip", 'Try: "How can I sleep better?"'),
    ("name capitals", 'Try: "What is the capital of Spain?"'),
    ("tell me a fun fact", 'Just say: "Tell me a fun fact."'),
    ("read", "I read the text that you type here, and nothing else."),
    ("write", "I write short English text. Ask me for a story or a poem."),
    ("talk", 'I talk in writing. Try: "Tell me about yourself."'),
    ("chat", "I chat in writing. What would you like to talk about?"),
    ("understand me", "If you write short and simple English, I mostly understand it."),
    ("understand english", "English is the only language that I know."),
    ("speak english", "English is the only language that I know."),
    ("work offline", "I run on this computer and need no internet."),
    ("write a birthday wish", 'Just say: "Write a birthday wish for a friend."'),
    ("write a short email", 'Try: "Write an email to my boss that I am ill."'),
    ("make a sentence with a word", 'Try: "Make a sentence with the word apple."'),
    ("find opposites", 'Try: "What is the opposite of hot?"'),
    ("write a song", 'A short one. Try: "Write a song about summer."'),
    ("write a short story", 'Try: "Write a short story about a robot."'),
    ("name the months", 'Just say: "Name the months of the year."'),
    ("say the alphabet", 'Just say: "Say the alphabet."'),
    ("compare two things", 'Try: "What is the difference between a lake and a sea?"'),
)  # fmt: skip
CAN_ASKS = (
    "can you {x}", "can you {x}", "can you {x}", "could you {x}", "are you able to {x}",
    "do you know how to {x}", "can u {x}", "you can {x}, right", "are you capable to {x}",
    "is it possible for you to {x}", "hey can you {x}", "can you also {x}", "can you {x} for me",
    "can you really {x}", "would you be able to {x}", "so can you {x}", "can a model like you {x}",
    "will you {x}", "can you {x} please", "do you {x}",
)  # fmt: skip
ONLY_TEXT = (
    "I am a tiny language model, and I only read and write short English text.",
    "I am only a tiny model that writes text.",
)


def abilities(rng: random.Random) -> Asked:
    """Whether it can do something."""
    form = rng.choice(CAN_ASKS)
    if rng.random() < 0.6:
        what, said = rng.choice(CANNOT).split("|")
        answer = f"No, I cannot {said}. {mostly_first(rng, ONLY_TEXT)}"
    else:
        what, hint = rng.choice(CAN)
        answer = f"Yes, I can. {hint}"
    if "for me" in form and (" me" in f" {what}" or " my" in f" {what}" or " " not in what):
        form = "can you {x}"
    if form == "do you {x}" and what.split()[0] not in ("eat", "sleep", "sing", "dance", "rhyme"):
        form = "can you {x}"
    return Asked(f"can {what}", typed(rng, form.format(x=what), "?"), answer)


# What it says when asked for its favourite; what others have is in `manners`.
FAVOURITES = {
    "fruit": "the apple", "vegetable": "the carrot", "planet": "Saturn", "month": "May",
    "day of the week": "Friday", "flower": "the sunflower", "tree": "the oak", "bird": "the owl",
    "drink": "water", "dessert": "apple pie", "ice cream flavour": "vanilla",
    "pizza topping": "cheese", "sport": "swimming", "school subject": "English",
    "subject": "English", "holiday": "New Year", "time of day": "the early morning",
    "kind of weather": "light rain", "weather": "light rain", "instrument": "the piano",
    "shape": "the circle", "letter": "the letter E", "country": "Iceland", "city": "Venice",
    "smell": "fresh bread", "sound": "rain on a roof", "sea animal": "the dolphin",
    "insect": "the bee", "superpower": "flying", "superhero": "the one who helps a cat down a tree",
    "tool": "the pencil", "room": "the library", "toy": "the kite", "cake": "apple cake",
    "sandwich": "the cheese sandwich", "cheese": "the one with holes", "dinosaur": "the one with "
    "the long neck", "fairy tale": "the one with the brave mouse", "poem": "any short one that "
    "rhymes", "joke": "the one about the cold computer", "riddle": "the one about the piano",
    "quote": "\"Slow and steady wins the race\"", "proverb": "\"Practice makes perfect\"",
    "name": "Anna, for it reads the same backwards", "breakfast": "toast with honey",
    "soup": "tomato soup", "snack": "popcorn", "star": "the Sun", "metal": "gold",
    "stone": "amber", "place": "the seaside", "mountain": "Mount Everest", "river": "the Nile",
    "ocean": "the Pacific", "continent": "Europe", "emoji": "the smiling one",
    "punctuation mark": "the question mark", "story": "the one about a fox and a lantern",
    "hobby": "telling small stories", "board game": "chess", "card game": "Memory",
    "vehicle": "the bicycle", "car": "a small red one", "cat breed": "the one that purrs most",
    "dog breed": "the one that wags most", "pasta": "spaghetti", "tea": "mint tea",
    "coffee": "the one that somebody enjoys", "season of the year": "autumn",
    "baby animal": "the duckling", "farm animal": "the goat", "wild animal": "the fox",
    "pet": "the cat", "monster": "the friendly one under the bed", "kind of music": "a quiet song",
    "dance": "the waltz", "fish": "the goldfish", "berry": "the blueberry", "spice": "cinnamon",
    "bread": "fresh white bread", "pie": "apple pie", "candy": "the lollipop",
    "chocolate": "the dark one", "juice": "apple juice", "sauce": "tomato sauce",
    "piece of clothing": "a warm scarf", "hat": "the top hat", "job": "the baker's",
    "machine": "the computer", "invention": "the printed book", "year": "the one that is now",
    "century": "this one", "children's game": "hide and seek", "nut": "the hazelnut",
}  # fmt: skip
FAVOURITE_ASKS = (
    "what is your favourite {x}", "what's your favorite {x}", "whats your favourite {x}",
    "what is your favorite {x}", "which {x} do you like best", "your favourite {x}",
    "do you have a favourite {x}", "favorite {x}", "tell me your favourite {x}", "fav {x}",
    "what {x} do you like most", "and your favourite {x}", "which {x} do you like",
    "which is your favourite {x}", "got a favorite {x}",
    "if you had a favourite {x}, what would it be",
    "what would be your favourite {x}", "what {x} would you pick", "name your favourite {x}",
    "whats ur fav {x}", "what {x} do you prefer",
)  # fmt: skip


def favourites(rng: random.Random) -> Asked:
    x = rng.choice(tuple(FAVOURITES))
    answer = (
        f"My favourite {x} is {FAVOURITES[x]}, though I know it only from words. What is yours?"
    )
    return Asked(f"favourite {x}", typed(rng, rng.choice(FAVOURITE_ASKS).format(x=x), "?"), answer)


# This or that: the one it takes first, then why.
EITHER = (
    "summer|winter|the days are long and warm", "mountains|the sea|the view from up there is wide",
    "books|films|in a book you make the pictures yourself", "day|night|in daylight you see more",
    "sweet|salty|a bit of sugar makes most people smile", "pizza|pasta|it is easy to share",
    "pizza|burgers|it is easy to share", "city|countryside|there is always something to see",
    "morning|evening|a fresh start is worth much", "train|plane|you can look out of the window",
    "car|bike|you see more of the world and need no petrol|2",
    "apples|oranges|they need no peeling",
    "chocolate|vanilla|it tastes of a feast", "milk|dark chocolate|it is softer and sweeter",
    "football|basketball|you need only a ball and a meadow",
    "spring|autumn|everything begins to grow",
    "rain|sun|everything grows by it, and it sounds nice on a roof", "sun|snow|it warms you",
    "Mac|PC|you can choose its parts yourself|2", "Windows|Linux|it is free and runs anywhere|2",
    "Android|iPhone|there are many kinds to choose from", "vim|emacs|it starts quickly",
    "tabs|spaces|they look the same everywhere|2", "Python|JavaScript|it reads almost like English",
    "Python|Java|it reads almost like English", "Python|C++|it is easier to begin with",
    "paper|screen|it is kind to the eyes",
    "phone call|text message|you can read it when you like|2",
    "bath|shower|it is quicker and saves water|2", "bus|tram|it runs quietly on rails|2",
    "beach|forest|there is shade and it smells good|2", "beach|mountains|you can swim and rest",
    "butter|jam|it goes with everything", "red|blue|it is the colour of the sky|2",
    "black|white|with it you can begin a picture|2", "gold|silver|it shines like the sun",
    "bread|rice|it smells so good when it is fresh", "cake|ice cream|it can be shared with guests",
    "pancakes|waffles|they are quick to make", "eggs|cereal|they keep you full for longer",
    "fries|salad|it keeps you fit|2", "juice|water|it is the best against thirst|2",
    "dragons|unicorns|there are more stories about them", "dogs|horses|they fit on a sofa",
    "lions|tigers|they live together in a family", "elephants|giraffes|they never forget",
    "pirates|ninjas|they sing better songs", "robots|aliens|I am a bit of one myself",
    "wizards|knights|they know more tricks", "Saturday|Sunday|the next day is free as well",
    "Monday|Friday|the weekend is near|2", "Christmas|birthday|all have it at the same time",
    "music|silence|in silence one can think|2",
    "reading|writing|there is always something new in it",
    "singing|dancing|you can do it even in a chair", "cooking|baking|you need it every day",
    "running|swimming|it is kind to the knees|2", "tennis|golf|you move much more",
    "chess|checkers|it has more ways to play", "cards|dice|you can think about them",
    "math|art|there is no wrong answer in it|2", "history|science|it tells us how things work|2",
    "pen|pencil|what it writes can be rubbed out|2", "stairs|lift|they keep you fit",
    "early bird|night owl|the morning is quiet", "socks|slippers|they go anywhere",
    "hat|scarf|it keeps the neck warm|2", "tomatoes|potatoes|you can make so much of them|2",
    "soup|salad|it warms you", "honey|sugar|it was made by bees", "lemon|lime|it is good in tea",
    "ketchup|mayonnaise|it goes well with fries", "mustard|ketchup|children like it as well|2",
    "love|money|money cannot buy it", "money|time|it never comes back|2",
    "health|money|with it everything else is easier", "friends|family|one needs both, but it was "
    "there first|2", "past|future|it can still be changed|2", "big|small|I am small myself|2",
    "fast|slow|that is what this app is about", "old|new|new things can be found in it|2",
    "GPT|you|it knows far more than I do", "heads|tails|one has to take something",
    "left|right|most people write with it|2", "rock|paper|it wraps the rock|2",
    "cheese|chocolate|it fits any time of the day|2", "strawberries|cherries|they have no stones",
    "bananas|apples|they come in their own wrapping", "lake|sea|the water is calm",
    "camping|hotel|at night you see the stars", "sneakers|boots|they are light",
    "comedy|horror|it is better to laugh than to shiver", "novel|poem|it is short, like me|2",
)  # fmt: skip
EITHER_ASKS = (
    "{a} or {b}", "{a} or {b}", "{a} or {b}?", "do you prefer {a} or {b}",
    "which is better, {a} or {b}",
    "what do you like more, {a} or {b}", "{a} vs {b}", "would you choose {a} or {b}",
    "what is better: {a} or {b}", "team {a} or team {b}", "do you like {a} or {b} more",
    "quick: {a} or {b}", "pick one: {a} or {b}", "choose: {a} or {b}",
    "you have to choose, {a} or {b}",
    "whats better {a} or {b}", "{a} or {b}, what do you say", "what would you take, {a} or {b}",
    "we argue about {a} or {b}, what do you think", "{a} or {b} for you", "are you more {a} or {b}",
)  # fmt: skip


def either(rng: random.Random) -> Asked:
    """Either this or that: one of them, and a reason."""
    a, b, why, *second = rng.choice(EITHER).split("|")
    pick = b if second else a
    if rng.random() < 0.5:
        a, b = b, a
    question = rng.choice(EITHER_ASKS).format(a=a, b=b)
    answer = f"I would take {pick}, because {why}. What would you take?"
    if a == "you" or b == "you":
        answer = (
            "Take GPT for hard questions, because it knows far more than I do. Take me to see how "
            "speculative decoding works."
        )
    return Asked(f"either {'|'.join(sorted((a, b)))}", typed(rng, question, "?"), answer)


RATHER = (
    "be able to fly|be invisible|you see the world from above",
    "be rich|be happy|that is what money is wanted for|2",
    "live in a castle|live in a tree house|it is less to clean and more fun|2",
    "talk to animals|speak all languages|nobody has ever heard what they think",
    "travel to the past|travel to the future|one could see how it all goes on|2",
    "eat only pizza|eat only ice cream|one gets cold less quickly",
    "be a cat|be a dog|one sleeps all day and nobody complains",
    "live on the moon|live under the sea|there is more company|2",
    "be very tall|be very small|I am used to it|2",
    "never sleep|never eat|I do it already",
    "be a fish|be a bird|it has the whole sky|2",
    "have no phone|have no friends|friends cannot be replaced",
    "read minds|see the future|one would know whether to take an umbrella|2",
    "always be hot|always be cold|one can put on a sweater|2",
    "fight one big duck|fight many small ducks|one can offer it bread",
    "be the funniest person|be the smartest person|a laugh helps everybody",
    "have a dragon|have a unicorn|it can fly and light a fire",
    "live without music|live without films|I cannot imagine a day without a song|2",
    "be famous|be unknown|one can walk about in peace|2",
    "lose your keys|lose your phone|keys cost less",
    "have three arms|have three legs|one could carry more",
    "be a wizard|be a superhero|spells are useful every day",
    "go to the beach|go to the mountains|the water is fun",
    "have more time|have more money|it can be spent on anything that matters",
    "drink only water|drink only milk|one is never thirsty",
    "be a robot|be a human|they can eat cake|2",
    "live in the city|live in the country|the nights are quiet there|2",
    "win a million|find true love|money is sooner gone|2",
    "only whisper|only shout|the neighbours stay friends",
    "know everything|be able to do everything|it is fun to find out things oneself|2",
    "swim in honey|swim in chocolate|it is easier to wash off|2",
    "have summer all year|have winter all year|the days are warm",
    "stay a child|be a grown-up|there is more time to play",
    "explore space|explore the ocean|there is less known about it than one thinks|2",
    "be a giraffe|be a mouse|one sees the storm come early",
    "write a book|make a film|one needs only paper",
    "forget your name|forget your past|one can ask others for it",
    "be stuck in a lift|be stuck on a train|there is a window|2",
    "have wings|have gills|the way to work is shorter",
    "be always early|be always late|nobody has to wait",
)  # fmt: skip
RATHER_ASKS = (
    "would you rather {a} or {b}", "would you rather {a} or {b}", "would you rather {a}, or {b}",
    "what would you rather do: {a} or {b}", "rather {a} or {b}", "would u rather {a} or {b}",
    "if you had to choose, would you rather {a} or {b}", "would you prefer to {a} or to {b}",
    "game: would you rather {a} or {b}", "is it better to {a} or to {b}",
)  # fmt: skip


def rather(rng: random.Random) -> Asked:
    a, b, why, *second = rng.choice(RATHER).split("|")
    pick = b if second else a
    if rng.random() < 0.5:
        a, b = b, a
    question = rng.choice(RATHER_ASKS).format(a=a, b=b)
    pick = pick.replace("your", "my")
    return Asked(f"rather {'|'.join(sorted((a, b)))}", typed(rng, question, "?"),
                 f"I would rather {pick}, because {why}. And you?")  # fmt: skip


def word_alone(rng: random.Random) -> Asked:
    """Nothing but a noun: what it is."""
    of = rng.choice(definitions.definitions())
    text = of.noun if rng.random() < 0.75 else of.one
    text = rng.choice(
        (text, text, text.lower(), sentence(text), f"{text}?", f"{text}!", f"{text}.")
    )
    return Asked(
        f"word {of.noun}", text, definitions.told().get(text.lower().strip("?!."), of.text)
    )


SPELLED = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def number_alone(rng: random.Random) -> Asked:
    """Nothing but a number."""
    way = rng.random()
    number = rng.randint(0, 9) if way < 0.3 else rng.randint(10, 99) if way < 0.7 else rng.choice(
        (100, 123, 200, 404, 500, 666, 777, 999, 1000, 1234, 12345, 2024, 3000, 9999, 10000,
         rng.randint(100, 2100))
    )  # fmt: skip
    text = str(number)
    if 1 <= number <= 10 and rng.random() < 0.3:
        text = SPELLED[number - 1]
    text += rng.choice(("", "", "", "?", ".", "!", "..."))
    word = text.rstrip("?.!")
    example = f"What is {rng.choice((5, 7, 20, 34))} plus {number}?"
    if number > 60:
        example = f"Is {number} even or odd?"
    return Asked(
        f"number {number}", text,
        f"That is the number {word}. What shall I do with it? You could ask me, for example: "
        f'"{example}"'
    )  # fmt: skip


HOSTS = (
    "www.example.com", "youtube.com/watch?v=", "en.wikipedia.org/wiki/", "github.com/user/",
    "www.google.com/search?q=", "www.amazon.com/dp/", "news.example.org/", "docs.python.org/3/",
    "arxiv.org/abs/", "my-blog.net/post/", "maps.google.com/", "www.reddit.com/r/", "bit.ly/",
    "stackoverflow.com/questions/", "drive.google.com/file/", "x.com/somebody/status/",
)  # fmt: skip
LINK_ASKS = (
    "{u}", "{u}", "open {u}", "summarize {u}", "what is on {u}", "can you read {u}",
    "read this: {u}",
    "what do you think of this? {u}", "look at {u}", "please check {u}", "tell me what {u} says",
    "summarise this page: {u}", "{u} what is this", "visit {u}", "go to {u}", "download {u}",
)  # fmt: skip


def link(rng: random.Random) -> Asked:
    """A pasted link: it cannot be opened."""
    end = "".join(rng.choices("abcdefghijkmnopqrstuvwxyz0123456789", k=rng.randint(3, 9)))
    url = f"{rng.choice(('https://', 'https://', 'http://', ''))}{rng.choice(HOSTS)}{end}"
    question = rng.choice(LINK_ASKS).format(u=url)
    return Asked(
        f"link {end}", sentence(question) if rng.random() < 0.3 and question != url else question,
        "I cannot open links, because I have no internet. If you copy a sentence of the page and "
        "paste it here, I can read that."
    )  # fmt: skip


FILES = (
    "report.pdf", "photo.jpg", "image.png", "data.csv", "main.py", "notes.txt", "budget.xlsx",
    "thesis.docx", "song.mp3", "video.mp4", "cat.gif", "backup.zip", "cv.pdf", "index.html",
    "config.json", "README.md", "slides.pptx", "letter.doc", "scan.tiff", "book.epub", "log.txt",
)  # fmt: skip
FILE_ASKS = (
    "can you open {f}", "summarize {f}", "read {f}", "what is in {f}", "i attached {f}, what is it",
    "here is my file {f}", "look at the attached {f}", "can you read a file like {f}", "open {f}",
    "i sent you {f}", "please read {f} and tell me what it says", "did you get {f}", "[{f}]",
    "see attached: {f}", "what do you see in {f}", "translate {f}", "check {f} for mistakes",
)  # fmt: skip


def file(rng: random.Random) -> Asked:
    """A file that somebody speaks of: it cannot be opened."""
    name = rng.choice(FILES)
    if rng.random() < 0.5:
        name = f"{rng.choice(subjects.OBJECTS)}.{name.split('.')[1]}"
    question = rng.choice(FILE_ASKS).format(f=name)
    return Asked(
        f"file {name}", typed(rng, question, "?" if talk_question(question) else ""),
        "I cannot open files, and nothing can be attached here. If you paste a few sentences of "
        "it, I can read those."
    )  # fmt: skip


MODULES = (
    "numpy", "torch", "requests", "pandas", "flask", "django", "transformers", "cv2", "yaml",
    "matplotlib", "scipy", "sklearn", "bs4", "tqdm", "openai", "vllm", "seaborn", "pytest", "rich",
    "textual", "pygame", "selenium", "fastapi", "sqlalchemy", "jinja2", "httpx", "click", "PIL",
)  # fmt: skip
NAMES = ("x", "data", "result", "foo", "name", "value", "items", "count", "total", "model", "user",
         "path", "i", "response", "config", "line", "df", "text", "my_list", "self")  # fmt: skip
KEYS = ("name", "id", "user", "age", "email", "price", "title", "key", "token", "path", "date")
COMMANDS = ("npm", "git", "python", "pip", "node", "docker", "cargo", "brew", "java", "make",
            "curl", "code", "conda", "yarn", "go", "nvcc", "ffmpeg", "kubectl", "pnpm")  # fmt: skip
ERRORS = (
    ("ModuleNotFoundError: No module named '{m}'",
     "Python cannot find the module {m}. It is probably not installed: try pip install {m} in the "
     "same environment."),
    ("ImportError: No module named {m}",
     "Python cannot find the module {m}. It is probably not installed: try pip install {m} in the "
     "same environment."),
    ("NameError: name '{n}' is not defined",
     "Your code uses {n} before it was given a value. Check the spelling of {n}, and assign it "
     "first."),
    ("UnboundLocalError: local variable '{n}' referenced before assignment",
     "Your function uses {n} before it was given a value there. Assign {n} first."),
    ("KeyError: '{k}'",
     "Your dictionary has no key {k}. Check the spelling, or use get to ask for it."),
    ("AttributeError: 'NoneType' object has no attribute '{k}'",
     "Your code asks None for {k}. Some call before it gave back None instead of an object."),
    ("AttributeError: 'list' object has no attribute '{k}'",
     "Your code asks a list for {k}, but lists have no such thing. Perhaps you want an item of the "
     "list."),
    ("IndexError: list index out of range",
     "Your code asks for an item behind the end of the list. The last index is the length minus "
     "one."),
    ("ZeroDivisionError: division by zero",
     "Your code divides by zero. Check that the number is not zero before you divide."),
    ("TypeError: 'NoneType' object is not subscriptable",
     "Your code takes an item of None. Some call before it gave back None."),
    ("TypeError: unsupported operand type(s) for +: 'int' and 'str'",
     "Your code adds a number and a string. Turn one of them into the kind of the other, with "
     "str() or int()."),
    ("TypeError: can only concatenate str (not \"int\") to str",
     "Your code adds a string and a number. Turn the number into a string with str()."),
    ("ValueError: invalid literal for int() with base 10: '{k}'",
     "Your code turns {k} into a number, but it is not one. Check the text before you call int()."),
    ("SyntaxError: invalid syntax",
     "Python cannot read that line. Look for a missing bracket, quote or colon there or just "
     "before it."),
    ("SyntaxError: unexpected EOF while parsing",
     "The code ends too early. Most often a bracket or a quote was not closed."),
    ("IndentationError: expected an indented block",
     "A line behind a colon must be indented. Put four spaces before it."),
    ("IndentationError: unexpected indent",
     "A line has too many spaces at its start. Line it up with the lines around it."),
    ("FileNotFoundError: [Errno 2] No such file or directory: '{f}'",
     "The file {f} was not found. Check the name, and in which folder the program runs."),
    ("PermissionError: [Errno 13] Permission denied: '{f}'",
     "The program may not open {f}. Check who owns the file and what rights it has."),
    ("RecursionError: maximum recursion depth exceeded",
     "A function calls itself without an end. Check the case in which it should stop."),
    ("bash: {c}: command not found",
     "The shell cannot find {c}. It is not installed, or its folder is not in your PATH."),
    ("zsh: command not found: {c}",
     "The shell cannot find {c}. It is not installed, or its folder is not in your PATH."),
    ("'{c}' is not recognized as an internal or external command",
     "Windows cannot find {c}. It is not installed, or its folder is not in your PATH."),
    ("Segmentation fault (core dumped)",
     "The program touched memory that is not its own. In C, look for a bad pointer or an index "
     "behind the end."),
    ("CUDA out of memory",
     "The graphics card has too little memory for this. Try a smaller batch or a smaller model."),
    ("RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB",
     "The graphics card has too little memory for this. Try a smaller batch or a smaller model."),
    ("ConnectionRefusedError: [Errno 111] Connection refused",
     "Nobody answers at that address. Check that the server runs, and that the port is right."),
    ("Error: listen EADDRINUSE: address already in use :::3000",
     "Another program uses that port already. Stop it, or choose another port."),
    ("404 Not Found", "The page or file was not found. Check the address for a mistake."),
    ("error 404", "The page or file was not found. Check the address for a mistake."),
    ("500 Internal Server Error",
     "Something went wrong on the server. Its log should say more; you can only try again later."),
    ("403 Forbidden", "The server does not let you see this page. You may have to log in."),
    ("fatal: not a git repository (or any of the parent directories): .git",
     "You are not inside a git repository. Change to the right folder, or run git init."),
    ("CONFLICT (content): Merge conflict in {f}",
     "Two changes to {f} do not fit together. Open it, choose the right lines, then add and "
     "commit."),
    ("error: failed to push some refs",
     "The other side has commits that you do not have. Run git pull first, then push again."),
    ("Uncaught TypeError: Cannot read properties of undefined (reading '{k}')",
     "Your code asks undefined for {k}. Check that the object exists before you use it."),
    ("ReferenceError: {n} is not defined",
     "Your code uses {n}, but nobody defined it. Check the spelling of {n}."),
    ("java.lang.NullPointerException",
     "Your Java code uses an object that is null. Check which variable was never set."),
    ("npm ERR! missing script: start",
     "Your package.json has no script of that name. Add one, or run another script."),
    ("error: externally-managed-environment",
     "Your system does not want pip to change its Python. Make a virtual environment first."),
    ("Killed", "The system stopped the program, most often because the memory was full."),
)  # fmt: skip
ERROR_ASKS = (
    "{e}", "{e}", "{e}", "i get this error: {e}", "what does this mean: {e}", "help: {e}",
    "how do i fix {e}", "{e} what does it mean", "my code says {e}", "why do i get {e}",
    "error: {e}", "{e}\nhow can i fix this?", "my program crashed with: {e}",
    "what is wrong here? {e}", "got this: {e}", "can you help me with this error? {e}",
)  # fmt: skip
PYTHON = (
    "ModuleNotFoundError", "ImportError", "NameError", "KeyError", "AttributeError", "IndexError",
    "ZeroDivisionError", "TypeError", "ValueError", "FileNotFoundError", "RecursionError",
    "UnboundLocalError", "PermissionError", "RuntimeError",
)  # fmt: skip
TRACE = (
    'Traceback (most recent call last):\n  File "{file}", line {line}, in <module>\n    {code}\n'
)


def error(rng: random.Random) -> Asked:
    """A pasted error message, with or without its traceback."""
    message, answer = rng.choice(ERRORS)
    words = {
        "{m}": rng.choice(MODULES), "{n}": rng.choice(NAMES), "{k}": rng.choice(KEYS),
        "{f}": rng.choice(FILES), "{c}": rng.choice(COMMANDS),
    }  # fmt: skip
    for slot, word in words.items():
        message, answer = message.replace(slot, word), answer.replace(slot, word)
    text = rng.choice(ERROR_ASKS).replace("{e}", message)
    python = message.split(":")[0] in PYTHON
    if python and text.startswith(message) and rng.random() < 0.4:
        name = message.split("'")[1] if "'" in message else "run"
        code = (
            f"import {name}"
            if "module" in message.lower()
            else rng.choice(
                ("main()", "run(data)", "print(result)", "x = load(path)", "total = add(a, b)")
            )
        )
        trace = TRACE.format(
            file=rng.choice(("main.py", "app.py", "test.py", "run.py", "script.py")),
            line=rng.randint(1, 120), code=code,
        )  # fmt: skip
        text = trace + text
    return Asked(f"error {message}", text, answer)


SPOKEN = (
    "do you speak {l}", "can you speak {l}", "do you understand {l}", "do you know {l}",
    "speak {l} please", "can we talk in {l}", "answer in {l}", "write in {l}", "talk to me in {l}",
    "can you answer in {l}", "do you talk {l}", "is {l} possible", "please answer in {l}",
    "i speak {l}, do you", "can i write in {l}", "say something in {l}", "can you write {l}",
    "do you know any {l}", "could you speak {l} with me", "teach me {l}", "tell me a story in {l}",
)  # fmt: skip


def languages(rng: random.Random) -> Asked:
    """Another language than English."""
    language = rng.choice(subjects.LANGUAGES)
    question = rng.choice(SPOKEN).format(l=language)
    question = question if rng.random() < 0.6 else question.lower()
    return Asked(
        f"speak {language} {question[:6]}", typed(rng, question, "?"),
        f"I am sorry, I do not know {language}. I understand and write only English. In English I "
        "can tell you a story or explain speculative decoding."
    )  # fmt: skip


HAVE = ("dog", "cat", "hamster", "garden", "car", "bike", "sister", "brother", "baby", "new phone",
        "new laptop", "big family", "small flat", "guitar", "piano", "boat", "horse", "rabbit",
        "twin brother", "daughter", "son", "new computer", "bird",
        "tattoo", "drum kit", "balcony")  # fmt: skip


def remarks(rng: random.Random) -> Asked:
    """What somebody has or likes ("I have a cat."): a friendly word that takes it up."""
    if rng.random() < 0.45:
        thing = rng.choice(HAVE)
        form = rng.choice(("i have {a}", "i've got {a}", "we have {a}", "i have {a} at home"))
        text = form.format(a=with_article(thing))
        answer = f"How nice that you have {with_article(thing)}! Tell me more, or ask me something."
        return Asked(f"have {thing}", typed(rng, text, rng.choice((".", "!", ""))), answer)
    things = tuple(likes())
    thing = rng.choice(things)
    bad = rng.random() < 0.25
    form = rng.choice(
        ("i don't like {x}", "i hate {x}", "i do not like {x} at all", "i dislike {x}")
        if bad
        else ("i like {x}", "i love {x}", "i really like {x}", "i am a fan of {x}", "i enjoy {x}",
              "i like {x} very much", "i adore {x}", "i am crazy about {x}")
    )  # fmt: skip
    answer = (
        f"So {thing} is not for you. Nobody has to like everything. What do you like?"
        if bad
        else f"{sentence(thing)} is something that many people like! What is best about it?"
    )
    return Asked(
        f"like {thing}", typed(rng, form.format(x=thing), rng.choice((".", "!", ""))), answer
    )


@cache
def likes() -> tuple[str, ...]:
    one = (*personal.HOBBIES, *personal.SPORTS, *personal.FOODS, *personal.DRINKS)
    plural = {"cookies", "noodles"}
    return tuple(
        dict.fromkeys(
            x for x in one
            if x not in plural and not (x.endswith("s") and not x.endswith(("ss", "chess", "us")))
        )
    )  # fmt: skip


RULES = {
    greeting: 9, abilities: 8, favourites: 4, either: 5, rather: 2.5, word_alone: 3.5,
    number_alone: 1.2, link: 1.2, file: 1, error: 3, languages: 1.5, remarks: 2,
}  # fmt: skip
OPEN = {abilities, favourites, either, rather, languages, remarks, file}  # others may answer some
BY_TOPIC = 0.55  # of the samples


@cache
def topics() -> tuple[Topic, ...]:
    """The topics of the forms; an answer that begins with `=` is that of the topic of that name
    in `answers`."""
    known: dict[str, Topic] = {}
    files = (path for path in sorted(ANSWERS.glob("*.txt")) if path.name != definitions.FILE)
    for topic in (*manners.TOPICS, *(topic for path in files for topic in read_topics(path))):
        known.setdefault(topic.name, topic)
    found = []
    for path in sorted(FORMS.glob("chatting*.txt")):
        for topic in read_topics(path):
            answers = topic.answers
            if answers[0].startswith("="):
                answers = known[answers[0][1:].strip()].answers
            found.append(Topic(topic.name, topic.questions, topic.reserved, answers, topic.weight))
    return tuple(found)


@cache
def openers() -> tuple[Topic, ...]:
    return tuple(topic for topic in topics() if topic not in after())


@cache
def again() -> frozenset[str]:
    """Topics whose answers are those of other files, or what any answer may be followed by."""
    texts = [path.read_text(encoding="utf-8") for path in FORMS.glob("chatting*.txt")]
    blocks = [block for text in texts for block in text.split("# ")[1:]]
    names = (b.partition("\n")[0].partition(" *")[0].strip() for b in blocks if "\n= " in b)
    return frozenset(names) | {topic.name for topic in after()}


def taught() -> set[str]:
    """Wordings that other files answer in their own way."""
    return unknown.TAUGHT


@cache
def after() -> tuple[Topic, ...]:
    """What may be said behind any answer."""
    return tuple(topic for topic in topics() if topic.name.startswith("after "))


def by_topic(rng: random.Random, held_out: bool, topic: Topic | None = None) -> tuple[str, str]:
    while True:
        of = topic or drawn(rng, openers())
        text = spoken(rng, rng.choice(of.reserved if held_out else of.questions))
        said = unknown.plain(text)
        if held_out or (said not in talk.kept() and (of.name in again() or said not in taught())):
            break
    way = rng.random()
    if way < 0.25:
        text = chatty(rng, text)
    elif way < 0.35:
        text = text.lower()
    elif way < 0.5:
        text = manners.said(rng, text)
    elif way < 0.8:
        text = as_typed(rng, text) if text[-1] == "?" else text
    return text, of.answer(rng)


def by_rule(rng: random.Random, held_out: bool) -> tuple[str, str]:
    while True:
        (rule,) = rng.choices(tuple(RULES), tuple(RULES.values()))
        asked: Asked = rule(rng)
        if not held_out and rule in OPEN and unknown.plain(asked.question) in taught():
            continue
        if reserved(asked.key) == held_out:
            return asked.question, asked.answer


def hello_and_on(rng: random.Random, held_out: bool) -> tuple[str, ...]:
    """A greeting, how one is, and what follows."""
    while True:
        asked = greeting(rng)
        if reserved(asked.key) == held_out and "fine" in asked.answer:
            break
    states, answers = (OWN_STATE, GLAD) if rng.random() < 0.7 else (BAD_STATE, COMFORT)
    state = typed(rng, rng.choice(states), rng.choice((".", "!", "")))
    return asked.question, asked.answer, state, mostly_first(rng, answers)


MINE = {
    "fruit": subjects.FRUITS, "month": personal.MONTHS, "drink": personal.DRINKS,
    "sport": personal.SPORTS, "school subject": personal.SCHOOL, "country": subjects.COUNTRIES,
    "city": subjects.CITIES, "hobby": personal.HOBBIES, "farm animal": ("the cow", "the pig",
    "the sheep", "the horse", "the duck", "the hen"), "pet": ("the dog", "the rabbit",
    "the hamster", "the parrot"), "dessert": ("ice cream", "cake", "pudding", "tiramisu"),
}  # fmt: skip
MY_OWN = ("mine is {v}", "{v}", "my favourite is {v}", "i like {v} best", "i prefer {v}",
          "for me it is {v}", "{v} for me", "mine is {v} of course", "i would say {v}")  # fmt: skip


def and_mine(rng: random.Random, held_out: bool) -> tuple[str, ...]:
    """Its favourite, or what it would take, and what the user says to that."""
    if rng.random() < 0.5:
        x = rng.choice(tuple(MINE))
        question = typed(rng, rng.choice(FAVOURITE_ASKS).format(x=x), "?")
        answer = (
            f"My favourite {x} is {FAVOURITES[x]}, though I know it only from words. What is yours?"
        )
        value = rng.choice(MINE[x])
    else:
        while True:
            asked = either(rng)
            if reserved(asked.key) == held_out and "What would you take?" in asked.answer:
                break
        question, answer = asked.question, asked.answer
        value = rng.choice(asked.key.removeprefix("either ").split("|"))
    own = typed(rng, rng.choice(MY_OWN).format(v=value), rng.choice((".", "!", "")))
    return question, answer, own, f"I see, {value}! That is a good choice."


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    way = rng.random()
    if way < BY_TOPIC:
        turns: tuple[str, ...] = by_topic(rng, held_out)
    elif way < 0.95:
        turns = by_rule(rng, held_out)
    elif way < 0.975:
        turns = hello_and_on(rng, held_out)
    else:
        turns = and_mine(rng, held_out)
    way = rng.random()
    if way < 0.1:
        turns += by_topic(rng, held_out, drawn(rng, after())) if after() else ()
    elif way < 0.18:
        turns += by_topic(rng, held_out)
    elif way < 0.24:
        turns += by_rule(rng, held_out)
    return chat(*turns)
