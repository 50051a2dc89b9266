# ruff: noqa: E501 (rows of tables)
"""What people look up: countries, planets and animals with the questions that lean on the one
before ("and what language do they speak there"), and tables of works, inventions, years, signs,
mixtures of colours and numbers, asked in both directions.

The answer always names the thing that was asked about, so that a follow-up shows what "it" is.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from assets.demo.recipe.corpus import facts, tables
from assets.demo.recipe.corpus.facts import rows
from assets.demo.recipe.corpus.text import (
    Conversation,
    chat,
    early,
    sentence,
    spoken,
    typed_with,
)

# country | what people speak there | money | people
LANDS = """
Italy|Italian|the euro|59 million
France|French|the euro|68 million
Spain|Spanish|the euro|48 million
Germany|German|the euro|84 million
Japan|Japanese|the yen|124 million
China|Chinese, mostly Mandarin|the yuan|1.4 billion
the United Kingdom|English|the pound|68 million
the United States|mostly English|the US dollar|335 million
Brazil|Portuguese|the real|210 million
Mexico|Spanish|the peso|130 million
Canada|English and French|the Canadian dollar|40 million
Australia|English|the Australian dollar|27 million
India|Hindi, English and many other languages|the rupee|1.4 billion
Russia|Russian|the ruble|145 million
Egypt|Arabic|the Egyptian pound|110 million
Greece|Greek|the euro|10 million
Portugal|Portuguese|the euro|10 million
the Netherlands|Dutch|the euro|18 million
Switzerland|German, French, Italian and Romansh|the Swiss franc|9 million
Austria|German|the euro|9 million
Poland|Polish|the zloty|38 million
Sweden|Swedish|the krona|10 million
Norway|Norwegian|the krone|5.5 million
Denmark|Danish|the krone|6 million
Finland|Finnish and Swedish|the euro|5.6 million
Ireland|English and Irish|the euro|5 million
Turkey|Turkish|the lira|85 million
Argentina|Spanish|the peso|46 million
South Korea|Korean|the won|52 million
Belgium|Dutch, French and a little German|the euro|12 million
Hungary|Hungarian|the forint|10 million
the Czech Republic|Czech|the koruna|11 million
Ukraine|Ukrainian|the hryvnia|38 million
Iceland|Icelandic|the krona|400 thousand
New Zealand|English and Maori|the New Zealand dollar|5 million
Kenya|Swahili and English|the shilling|55 million
Morocco|Arabic and Berber|the dirham|37 million
Nigeria|English and many other languages|the naira|220 million
Thailand|Thai|the baht|70 million
Vietnam|Vietnamese|the dong|100 million
Iran|Persian|the rial|90 million
Saudi Arabia|Arabic|the riyal|35 million
Chile|Spanish|the peso|20 million
Peru|Spanish and Quechua|the sol|34 million
Colombia|Spanish|the peso|52 million
Cuba|Spanish|the peso|11 million
Romania|Romanian|the leu|19 million
Bulgaria|Bulgarian|the euro|6.5 million
Croatia|Croatian|the euro|4 million
Serbia|Serbian|the dinar|6.6 million
Slovakia|Slovak|the euro|5.4 million
Slovenia|Slovenian|the euro|2 million
Estonia|Estonian|the euro|1.4 million
Latvia|Latvian|the euro|1.9 million
Lithuania|Lithuanian|the euro|2.9 million
Albania|Albanian|the lek|2.8 million
Jamaica|English|the Jamaican dollar|2.8 million
Pakistan|Urdu and English|the rupee|240 million
Bangladesh|Bengali|the taka|170 million
Nepal|Nepali|the rupee|30 million
Israel|Hebrew and Arabic|the shekel|10 million
Malaysia|Malay|the ringgit|34 million
the Philippines|Filipino and English|the peso|115 million
Ethiopia|Amharic and other languages|the birr|125 million
Algeria|Arabic and Berber|the Algerian dinar|46 million
Tunisia|Arabic|the Tunisian dinar|12 million
Iraq|Arabic and Kurdish|the Iraqi dinar|45 million
Venezuela|Spanish|the bolivar|28 million
Ecuador|Spanish|the US dollar|18 million
Uruguay|Spanish|the peso|3.4 million
Mongolia|Mongolian|the tugrik|3.4 million
Ghana|English and other languages|the cedi|34 million
"""

# what it is | how hot | how big | how far | how long a day or a turn lasts | a note
SKY = """
the sun|The surface of the sun is about 5,500 degrees Celsius hot. Its centre has about 15 million degrees|The sun is about 1.4 million kilometres wide, about 109 times as wide as the Earth|The sun is about 150 million kilometres from the Earth. Its light takes about 8 minutes to reach us|The sun turns around itself in about 27 days|The sun is a star. It is the star that is closest to the Earth
the moon|On the moon it is about 120 degrees Celsius by day and about minus 130 by night|The moon is about 3,475 kilometres wide, a bit more than a quarter of the Earth|The moon is about 384,000 kilometres from the Earth|The moon goes around the Earth in about 27 days|The moon is a ball of rock that goes around the earth. It is the only moon of the Earth
Mercury|On Mercury it is about 430 degrees Celsius by day and about minus 180 by night|Mercury is the smallest planet, about 4,900 kilometres wide|Mercury is about 58 million kilometres from the sun|A year on Mercury lasts 88 days|Mercury is the first planet from the sun. It is small and grey and has no moon
Venus|Venus is about 465 degrees Celsius hot. It is the hottest planet|Venus is about 12,100 kilometres wide, almost as big as the Earth|Venus is about 108 million kilometres from the sun|A year on Venus lasts 225 days|Venus is the second planet from the sun. Its thick clouds keep the heat in
the Earth|The Earth is about 15 degrees Celsius warm on average|The Earth is about 12,700 kilometres wide|The Earth is about 150 million kilometres from the sun|The Earth goes around the sun in about 365 days and turns around itself in 24 hours|The earth is the planet on which we live. It is the third planet from the sun, and the only one that we know to have life
Mars|Mars is cold, about minus 60 degrees Celsius on average|Mars is about 6,800 kilometres wide, about half as wide as the Earth|Mars is about 228 million kilometres from the sun|A year on Mars lasts 687 days, and a day a bit more than 24 hours|Mars is the fourth planet from the sun. It is red because of rust in its dust, and it has two small moons
Jupiter|Jupiter is very cold at its clouds, about minus 110 degrees Celsius|Jupiter is the biggest planet, about 140,000 kilometres wide, 11 times as wide as the Earth|Jupiter is about 778 million kilometres from the sun|A year on Jupiter lasts about 12 of our years, and a day only about 10 hours|Jupiter is the fifth planet from the sun. It is made of gas and has a great red storm
Saturn|Saturn is very cold at its clouds, about minus 140 degrees Celsius|Saturn is about 120,000 kilometres wide, 9 times as wide as the Earth|Saturn is about 1.4 billion kilometres from the sun|A year on Saturn lasts about 29 of our years|Saturn is the sixth planet from the sun. It has wide rings of ice and rock
Uranus|Uranus is very cold, about minus 200 degrees Celsius|Uranus is about 51,000 kilometres wide, 4 times as wide as the Earth|Uranus is about 2.9 billion kilometres from the sun|A year on Uranus lasts 84 of our years|Uranus is the seventh planet from the sun. It lies on its side
Neptune|Neptune is very cold, about minus 200 degrees Celsius|Neptune is about 49,000 kilometres wide, almost 4 times as wide as the Earth|Neptune is about 4.5 billion kilometres from the sun|A year on Neptune lasts 165 of our years|Neptune is the eighth planet from the sun, the farthest one. It is blue and has very strong winds
Pluto|Pluto is very cold, about minus 230 degrees Celsius|Pluto is about 2,400 kilometres wide, smaller than our moon|Pluto is about 5.9 billion kilometres from the sun|A year on Pluto lasts 248 of our years|Pluto is a dwarf planet far behind Neptune
"""

# animals | size | speed in km per hour | years | dangerous?
BEASTS = """
cats|about 45 centimetres long, without the tail|48|12 to 18|No, cats are not dangerous, but they can scratch and bite
dogs|between 20 and 80 centimetres tall, for there are many kinds|30 to 60|10 to 13|Most dogs are friendly, but a frightened dog can bite
lions|about 2 metres long, and a male weighs about 190 kilograms|80|10 to 14|Yes, lions are dangerous wild animals. Nobody should go near one
tigers|up to 3 metres long with the tail, and they weigh up to 300 kilograms|60|10 to 15|Yes, tigers are dangerous wild animals. Nobody should go near one
elephants|about 3 metres tall, and they weigh about 5 tons|40|60 to 70|Elephants are mostly calm, but an angry one is very dangerous
giraffes|about 5 metres tall. They are the tallest animals|60|20 to 25|Giraffes are peaceful, but their kick is very strong
horses|about 1.6 metres tall at the shoulder|70|25 to 30|Horses are not dangerous by nature, but they can kick, so do not stand behind one
cows|about 1.4 metres tall, and they weigh about 600 kilograms|40|15 to 20|Cows are mostly calm, but a mother with a calf can be dangerous
pigs|about 1.5 metres long, and they weigh up to 300 kilograms|17|15 to 20|Pigs are mostly friendly, but a wild boar can be dangerous
sheep|about 1 metre tall|40|10 to 12|No, sheep are not dangerous
rabbits|about 40 centimetres long|40|8 to 12|No, rabbits are not dangerous
mice|about 8 centimetres long, without the tail|13|1 to 3|No, mice are not dangerous, but they can carry germs
hamsters|about 10 to 15 centimetres long|6|2 to 3|No, hamsters are not dangerous, but they can bite your finger
wolves|about 80 centimetres tall at the shoulder, and they weigh about 40 kilograms|60|6 to 10|Wolves mostly keep away from people, but they are wild animals
foxes|about 70 centimetres long, without the tail|50|3 to 5|No, foxes are shy and keep away from people
brown bears|up to 2.5 metres tall when they stand, and they weigh up to 500 kilograms|50|20 to 30|Yes, bears are dangerous, above all a mother with her cubs
polar bears|about 2.5 metres long, and a male weighs up to 600 kilograms|40|20 to 25|Yes, polar bears are very dangerous
giant pandas|about 1.5 metres long, and they weigh about 100 kilograms|30|20 to 30|Pandas look soft, but they are strong bears and can bite
kangaroos|up to 1.8 metres tall|60|10 to 20|Kangaroos are mostly shy, but a big male can kick hard
koalas|about 70 centimetres long|30|10 to 15|Koalas are calm, but they have sharp claws
gorillas|up to 1.8 metres tall, and a male weighs about 170 kilograms|40|35 to 40|Gorillas are mostly peaceful, but they are very strong
chimpanzees|up to 1.5 metres tall|40|40 to 50|Chimpanzees are very strong and can be dangerous
zebras|about 1.3 metres tall at the shoulder|65|20 to 25|Zebras can kick and bite, so they are not harmless
camels|about 2 metres tall|65|40 to 50|Camels are mostly calm, but they can kick and spit
hippos|up to 4 metres long, and they weigh about 2 tons|30|40 to 50|Yes, hippos are among the most dangerous animals of Africa
rhinos|up to 4 metres long, and they weigh about 2 tons|50|35 to 50|Yes, rhinos can be dangerous when they feel disturbed
cheetahs|about 1.3 metres long, without the tail|110|8 to 12|Cheetahs hardly ever attack people, but they are wild animals
squirrels|about 20 centimetres long, without the tail|20|5 to 10|No, squirrels are not dangerous
hedgehogs|about 25 centimetres long|6|3 to 7|No, hedgehogs are not dangerous, but their spines are sharp
dolphins|about 2 to 4 metres long|35|30 to 50|Dolphins are mostly friendly, but they are wild and strong
blue whales|up to 30 metres long. They are the biggest animals of all|35|80 to 90|No, blue whales eat only tiny animals and do not attack people
sharks|between 20 centimetres and 12 metres long, for there are many kinds|50|20 to 70|A few kinds of sharks are dangerous, but attacks on people are rare
penguins|between 40 centimetres and 1.2 metres tall|10 to 35 in the water|15 to 20|No, penguins are not dangerous
owls|between 15 and 70 centimetres tall|60|5 to 20|No, owls are not dangerous to people
eagles|about 90 centimetres long, and their wings spread over 2 metres|150 and more in a dive|20 to 30|Eagles hunt small animals and do not attack people
ostriches|up to 2.7 metres tall. They are the biggest birds|70|40|Yes, an ostrich can kick very hard
frogs|mostly 5 to 10 centimetres long|8|5 to 10|Most frogs are harmless, but some colourful ones are poisonous
crocodiles|up to 5 metres long|30 in the water|50 to 70|Yes, crocodiles are very dangerous
sea turtles|about 1 metre long|30 in the water|50 to 80|No, sea turtles are not dangerous
snakes|between 10 centimetres and 7 metres long, for there are many kinds|10|10 to 20|Some snakes are venomous, but most are harmless. Keep away from one that you do not know
bees|about 1.5 centimetres long|25|only a few weeks in summer, and a queen several|Bees sting only when they feel in danger. For people with an allergy that can be dangerous
ants|mostly 2 to 10 millimetres long|0.3|1 to 2, and a queen much longer|No, most ants are not dangerous, but some can bite or sting
butterflies|mostly 3 to 10 centimetres wide|20|only a few weeks|No, butterflies are not dangerous
goldfish|about 10 to 20 centimetres long|2|10 to 15|No, goldfish are not dangerous
octopuses|mostly 30 centimetres to 1 metre long|40|1 to 3|Most octopuses are shy and harmless, but a few are venomous
"""

# place | where | how high, long or big | how old | as it is asked
SPOTS = """
the Eiffel Tower|in Paris, the capital of France|330 metres high|It was built in 1889|tall
Mount Everest|on the border of Nepal and China|8,849 metres high|-|high
the Great Wall of China|in the north of China|thousands of kilometres long|Its oldest parts are more than 2,000 years old|long
the Nile|in Africa|about 6,650 kilometres long|-|long
the Amazon|in South America|about 6,400 kilometres long|-|long
the Statue of Liberty|in New York|93 metres high with its base|It was opened in 1886|tall
Big Ben|in London|96 metres high|It was finished in 1859|tall
the Colosseum|in Rome, the capital of Italy|about 48 metres high|It was finished in the year 80|tall
the Leaning Tower of Pisa|in Pisa in Italy|about 57 metres high|It was begun in 1173|tall
the Great Pyramid|at Giza in Egypt|about 139 metres high|It is about 4,500 years old|tall
the Taj Mahal|in Agra in India|about 73 metres high|It was built in the 17th century|tall
the Burj Khalifa|in Dubai|828 metres high|It was opened in 2010|tall
the Empire State Building|in New York|443 metres high with its antenna|It was opened in 1931|tall
the Golden Gate Bridge|in San Francisco|about 2.7 kilometres long|It was opened in 1937|long
Machu Picchu|in the mountains of Peru|about 2,430 metres above the sea|It was built in the 15th century|high
Stonehenge|in the south of England|about 30 metres wide|It is about 5,000 to 4,000 years old|wide
the Acropolis|in Athens, the capital of Greece|about 150 metres above the sea|Its great temple is about 2,400 years old|high
the Brandenburg Gate|in Berlin, the capital of Germany|26 metres high|It was finished in 1791|tall
the Sydney Opera House|in Sydney in Australia|about 65 metres high|It was opened in 1973|tall
the Kremlin|in Moscow, the capital of Russia|about 27 hectares big|Its walls are more than 500 years old|big
Mount Fuji|in Japan|3,776 metres high|-|high
Mont Blanc|on the border of France and Italy|about 4,806 metres high|-|high
the Matterhorn|on the border of Switzerland and Italy|4,478 metres high|-|high
Kilimanjaro|in Tanzania in Africa|5,895 metres high|-|high
the Rhine|in Europe, from Switzerland to the Netherlands|about 1,230 kilometres long|-|long
the Danube|in Europe, from Germany to the Black Sea|about 2,850 kilometres long|-|long
the Volga|in Russia|about 3,530 kilometres long|-|long
the Mississippi|in the United States|about 3,770 kilometres long|-|long
the Yangtze|in China|about 6,300 kilometres long|-|long
the Thames|in England, and it flows through London|about 346 kilometres long|-|long
the Seine|in France, and it flows through Paris|about 777 kilometres long|-|long
the Sahara|in the north of Africa|about 9 million square kilometres big|-|big
the Grand Canyon|in Arizona in the United States|about 446 kilometres long and up to 1.8 kilometres deep|It is about 5 to 6 million years old|deep
the Niagara Falls|on the border of Canada and the United States|about 51 metres high|-|high
Lake Baikal|in Russia|about 1,640 metres deep|It is about 25 million years old|deep
the Mariana Trench|in the Pacific Ocean|almost 11 kilometres deep|-|deep
Greenland|in the north, between the Atlantic and the Arctic Ocean|about 2.2 million square kilometres big|-|big
the Pacific Ocean|between Asia, Australia and America|about 165 million square kilometres big|-|big
the Atlantic Ocean|between America, Europe and Africa|about 85 million square kilometres big|-|big
"""

# work | how one asks (wrote, painted, composed) | by whom | kind
WORKS = """
Romeo and Juliet|wrote|William Shakespeare|play
Hamlet|wrote|William Shakespeare|play
Macbeth|wrote|William Shakespeare|play
Harry Potter|wrote|J. K. Rowling|series of books
The Lord of the Rings|wrote|J. R. R. Tolkien|book
The Hobbit|wrote|J. R. R. Tolkien|book
The Chronicles of Narnia|wrote|C. S. Lewis|series of books
Alice in Wonderland|wrote|Lewis Carroll|book
The Little Prince|wrote|Antoine de Saint-Exupery|book
Peter Pan|wrote|J. M. Barrie|play
Winnie the Pooh|wrote|A. A. Milne|book
The Jungle Book|wrote|Rudyard Kipling|book
Pinocchio|wrote|Carlo Collodi|book
Don Quixote|wrote|Miguel de Cervantes|novel
Faust|wrote|Johann Wolfgang von Goethe|play
War and Peace|wrote|Leo Tolstoy|novel
Anna Karenina|wrote|Leo Tolstoy|novel
Crime and Punishment|wrote|Fyodor Dostoevsky|novel
1984|wrote|George Orwell|novel
Animal Farm|wrote|George Orwell|novel
Brave New World|wrote|Aldous Huxley|novel
Pride and Prejudice|wrote|Jane Austen|novel
Emma|wrote|Jane Austen|novel
Jane Eyre|wrote|Charlotte Bronte|novel
Wuthering Heights|wrote|Emily Bronte|novel
Oliver Twist|wrote|Charles Dickens|novel
A Christmas Carol|wrote|Charles Dickens|story
Great Expectations|wrote|Charles Dickens|novel
Frankenstein|wrote|Mary Shelley|novel
Dracula|wrote|Bram Stoker|novel
Sherlock Holmes|wrote|Arthur Conan Doyle|series of stories
Treasure Island|wrote|Robert Louis Stevenson|novel
Robinson Crusoe|wrote|Daniel Defoe|novel
Gulliver's Travels|wrote|Jonathan Swift|novel
Moby Dick|wrote|Herman Melville|novel
Tom Sawyer|wrote|Mark Twain|novel
Huckleberry Finn|wrote|Mark Twain|novel
The Great Gatsby|wrote|F. Scott Fitzgerald|novel
To Kill a Mockingbird|wrote|Harper Lee|novel
The Old Man and the Sea|wrote|Ernest Hemingway|novel
Les Miserables|wrote|Victor Hugo|novel
The Three Musketeers|wrote|Alexandre Dumas|novel
Around the World in Eighty Days|wrote|Jules Verne|novel
The Time Machine|wrote|H. G. Wells|novel
The Odyssey|wrote|Homer|poem
The Iliad|wrote|Homer|poem
The Divine Comedy|wrote|Dante|poem
The Little Mermaid|wrote|Hans Christian Andersen|fairy tale
The Ugly Duckling|wrote|Hans Christian Andersen|fairy tale
Charlie and the Chocolate Factory|wrote|Roald Dahl|book
Pippi Longstocking|wrote|Astrid Lindgren|book
Little Women|wrote|Louisa May Alcott|novel
Dune|wrote|Frank Herbert|novel
The Hitchhiker's Guide to the Galaxy|wrote|Douglas Adams|book
On the Origin of Species|wrote|Charles Darwin|book
the Mona Lisa|painted|Leonardo da Vinci|painting
the Last Supper|painted|Leonardo da Vinci|painting
the Starry Night|painted|Vincent van Gogh|painting
the Sunflowers|painted|Vincent van Gogh|painting
the Scream|painted|Edvard Munch|painting
the Girl with a Pearl Earring|painted|Johannes Vermeer|painting
the Night Watch|painted|Rembrandt|painting
the Kiss|painted|Gustav Klimt|painting
Guernica|painted|Pablo Picasso|painting
the Birth of Venus|painted|Sandro Botticelli|painting
the Persistence of Memory|painted|Salvador Dali|painting
the Water Lilies|painted|Claude Monet|painting
the ceiling of the Sistine Chapel|painted|Michelangelo|painting
the Great Wave|made|Hokusai|print
the statue of David|made|Michelangelo|statue
the Thinker|made|Auguste Rodin|statue
the Moonlight Sonata|composed|Ludwig van Beethoven|piece for piano
the Ninth Symphony|composed|Ludwig van Beethoven|symphony
Fuer Elise|composed|Ludwig van Beethoven|piece for piano
the Magic Flute|composed|Wolfgang Amadeus Mozart|opera
the Four Seasons|composed|Antonio Vivaldi|piece for violin
Swan Lake|composed|Pyotr Tchaikovsky|ballet
the Nutcracker|composed|Pyotr Tchaikovsky|ballet
Carmen|composed|Georges Bizet|opera
Aida|composed|Giuseppe Verdi|opera
the Blue Danube|composed|Johann Strauss|waltz
the Messiah|composed|George Frideric Handel|piece for choir
Bolero|composed|Maurice Ravel|piece for orchestra
"""

# thing | invented, discovered | by whom | when
FOUND = """
the telephone|invented|Alexander Graham Bell|1876
the light bulb|invented|Thomas Edison and others|1879
the airplane|invented|the Wright brothers|1903
the car|invented|Carl Benz|1886
the printing press|invented|Johannes Gutenberg|about 1450
the World Wide Web|invented|Tim Berners-Lee|1989
the steam locomotive|invented|Richard Trevithick|1804
the radio|invented|Guglielmo Marconi and others|the 1890s
television|invented|John Logie Baird and others|the 1920s
dynamite|invented|Alfred Nobel|1867
the telescope|invented|Hans Lippershey|1608
the thermometer|invented|Galileo Galilei and others|about 1600
the battery|invented|Alessandro Volta|1800
the hot air balloon|invented|the Montgolfier brothers|1783
the diesel engine|invented|Rudolf Diesel|the 1890s
the zip|invented|Gideon Sundback and others|about 1913
the ballpoint pen|invented|Laszlo Biro|1938
the lightning rod|invented|Benjamin Franklin|1752
the microwave oven|invented|Percy Spencer|1945
the first vaccine|invented|Edward Jenner|1796
Braille|invented|Louis Braille|1824
Morse code|invented|Samuel Morse and others|the 1830s
the sewing machine|invented|Elias Howe and others|1846
the typewriter|invented|Christopher Sholes and others|1868
the safety razor|invented|King Camp Gillette|1901
the computer mouse|invented|Douglas Engelbart|the 1960s
the Rubik's cube|invented|Erno Rubik|1974
basketball|invented|James Naismith|1891
Linux|invented|Linus Torvalds|1991
Python|invented|Guido van Rossum|1991
the C language|invented|Dennis Ritchie|1972
JavaScript|invented|Brendan Eich|1995
blue jeans|invented|Levi Strauss and Jacob Davis|1873
the periodic table|invented|Dmitri Mendeleev|1869
penicillin|discovered|Alexander Fleming|1928
X-rays|discovered|Wilhelm Roentgen|1895
radium|discovered|Marie and Pierre Curie|1898
the law of gravity|discovered|Isaac Newton|1687
the electron|discovered|J. J. Thomson|1897
the neutron|discovered|James Chadwick|1932
Uranus|discovered|William Herschel|1781
Pluto|discovered|Clyde Tombaugh|1930
the moons of Jupiter|discovered|Galileo Galilei|1610
the structure of DNA|discovered|James Watson and Francis Crick|1953
oxygen|discovered|Carl Scheele and Joseph Priestley|the 1770s
hydrogen|discovered|Henry Cavendish|1766
the theory of relativity|found|Albert Einstein|1905
the theory of evolution|found|Charles Darwin|1859
the sea route to India|found|Vasco da Gama|1498
the tomb of Tutankhamun|found|Howard Carter|1922
"""

# event, as in "When ..." | as a name | year | what can be said
EVENTS = """
did World War One start|the start of World War One|1914|It ended in 1918
did World War One end|the end of World War One|1918|It had begun in 1914
did World War Two start|the start of World War Two|1939|It ended in 1945
did World War Two end|the end of World War Two|1945|It had begun in 1939
did the Berlin Wall fall|the fall of the Berlin Wall|1989|Germany was united again in 1990
was the Berlin Wall built|the building of the Berlin Wall|1961|It stood until 1989
did the French Revolution begin|the beginning of the French Revolution|1789|It began in Paris
did Columbus reach America|the first voyage of Columbus to America|1492|He sailed for Spain
did people first land on the moon|the first moon landing|1969|Neil Armstrong was the first man to step on the moon
did the Titanic sink|the sinking of the Titanic|1912|The ship had hit an iceberg
did the United States become independent|the Declaration of Independence|1776|It was signed in Philadelphia
did the American Civil War begin|the start of the American Civil War|1861|It ended in 1865
did the American Civil War end|the end of the American Civil War|1865|It had begun in 1861
did the Roman Empire fall in the west|the fall of the Roman Empire in the west|476|In the east it lived on for about a thousand years
was the Battle of Hastings|the Battle of Hastings|1066|William the Conqueror won it
was the Magna Carta signed|the Magna Carta|1215|It limited the power of the English king
did the Black Death reach Europe|the Black Death in Europe|1347|It was a terrible disease
did the Great Fire of London happen|the Great Fire of London|1666|It burned for several days
was the Battle of Waterloo|the Battle of Waterloo|1815|Napoleon lost it
did Constantinople fall|the fall of Constantinople|1453|The city is called Istanbul today
did the Russian Revolution happen|the Russian Revolution|1917|It ended the rule of the tsars
did the Soviet Union end|the end of the Soviet Union|1991|Fifteen countries came out of it
did Yuri Gagarin fly into space|the first flight of a human into space|1961|Yuri Gagarin flew once around the Earth
was the first satellite launched|the first satellite|1957|It was called Sputnik
did Vesuvius destroy Pompeii|the end of Pompeii|79|Ash of the volcano covered the town
were the first modern Olympic Games|the first modern Olympic Games|1896|They took place in Athens
was the first football World Cup|the first football World Cup|1930|It took place in Uruguay, and Uruguay won
was the Eiffel Tower built|the building of the Eiffel Tower|1889|It stands in Paris
was the Statue of Liberty opened|the opening of the Statue of Liberty|1886|It was a present from France
was the Suez Canal opened|the opening of the Suez Canal|1869|It joins the Mediterranean Sea and the Red Sea
was the Panama Canal opened|the opening of the Panama Canal|1914|It joins the Atlantic and the Pacific Ocean
was the United Nations founded|the founding of the United Nations|1945|Almost all countries belong to it
was the first iPhone sold|the first iPhone|2007|It was made by Apple
was Google founded|the founding of Google|1998|It began as a search engine
was Microsoft founded|the founding of Microsoft|1975|Bill Gates and Paul Allen founded it
was Apple founded|the founding of Apple|1976|Steve Jobs, Steve Wozniak and Ronald Wayne founded it
did Wikipedia start|the start of Wikipedia|2001|Everybody can help to write it
was ChatGPT released|the release of ChatGPT|2022|It was made by OpenAI
did the South Pole see its first people|the first people at the South Pole|1911|Roald Amundsen got there first
was Mount Everest first climbed|the first climb of Mount Everest|1953|Edmund Hillary and Tenzing Norgay did it
was the euro first used as cash|the start of the euro as cash|2002|Today about 20 countries use it
did Chernobyl happen|the accident of Chernobyl|1986|A nuclear power plant exploded there
was Shakespeare born|the birth of Shakespeare|1564|He wrote plays such as Hamlet
was Mozart born|the birth of Mozart|1756|He was born in Salzburg
was Beethoven born|the birth of Beethoven|1770|He was born in Bonn
was Einstein born|the birth of Einstein|1879|He was born in Ulm in Germany
was Napoleon born|the birth of Napoleon|1769|He was born on the island of Corsica
was Leonardo da Vinci born|the birth of Leonardo da Vinci|1452|He painted the Mona Lisa
was Isaac Newton born|the birth of Isaac Newton|1643|By the old calendar it was Christmas Day of 1642
was Charles Darwin born|the birth of Charles Darwin|1809|He is known for the theory of evolution
was Marie Curie born|the birth of Marie Curie|1867|She was born in Warsaw
was Gandhi born|the birth of Gandhi|1869|He was born in India
did the first plane fly|the first flight of a plane with an engine|1903|The Wright brothers built it
did the Great Depression start|the start of the Great Depression|1929|It began with a crash of the New York stock exchange
was Julius Caesar killed|the death of Julius Caesar|44 BC|It happened in Rome
did women get the vote in New Zealand|the vote for women in New Zealand|1893|It was the first country to do so
"""

SIGNS = """
hydrogen|H|1|the lightest gas
helium|He|2|a very light gas that fills balloons
lithium|Li|3|a light metal in batteries
carbon|C|6|found in coal, diamonds and all living things
nitrogen|N|7|most of the air
oxygen|O|8|the gas that we need to breathe
fluorine|F|9|a gas, and a salt of it is in toothpaste
neon|Ne|10|a gas in bright signs
sodium|Na|11|a soft metal, and a part of table salt
magnesium|Mg|12|a light metal that burns brightly
aluminium|Al|13|a light metal for cans and planes
silicon|Si|14|found in sand and in computer chips
phosphorus|P|15|found in bones and matches
sulfur|S|16|a yellow solid
chlorine|Cl|17|a green gas, and a part of table salt
argon|Ar|18|a gas in the air that hardly reacts
potassium|K|19|a soft metal, and bananas contain some of it
calcium|Ca|20|found in bones, teeth and milk
titanium|Ti|22|a strong and light metal
chromium|Cr|24|a shiny metal
iron|Fe|26|the metal in steel
nickel|Ni|28|a metal in many coins
copper|Cu|29|a red-brown metal for wires
zinc|Zn|30|a metal that protects steel from rust
silver|Ag|47|a shiny metal for jewellery
tin|Sn|50|a soft metal, and a part of bronze
iodine|I|53|found in sea salt
tungsten|W|74|a metal that melts only at very high heat
platinum|Pt|78|a precious metal
gold|Au|79|a yellow precious metal
mercury|Hg|80|a metal that is liquid at room temperature
lead|Pb|82|a heavy and poisonous metal
uranium|U|92|a heavy metal for nuclear power
"""

# two colours | what they make
MIXTURES = """
blue|yellow|green
red|yellow|orange
red|blue|purple
red|white|pink
black|white|grey
blue|white|light blue
red|green|brown
orange|blue|brown
purple|yellow|brown
green|white|light green
black|red|dark red
black|blue|dark blue
green|yellow|light green
blue|green|turquoise
red|orange|red-orange
yellow|white|light yellow
brown|white|light brown
black|green|dark green
purple|white|light purple
pink|blue|light purple
pink|yellow|light orange
"""

# how many | as asked behind "how many" | answer
COUNTS = """
days are in a week|A week has seven days
days are in a year|A year has 365 days, and a leap year has 366
days are in February|February has 28 days, and 29 in a leap year
days are in a leap year|A leap year has 366 days
months are in a year|A year has twelve months
weeks are in a year|A year has twelve months, or about 52 weeks
weeks are in a month|A month has a bit more than four weeks
hours are in a day|A day has 24 hours
hours are in a week|A week has 168 hours, because 7 x 24 = 168
minutes are in an hour|An hour has 60 minutes
minutes are in a day|A day has 1,440 minutes, because 24 x 60 = 1,440
seconds are in a minute|A minute has 60 seconds
seconds are in an hour|An hour has 3,600 seconds, because 60 x 60 = 3,600
seconds are in a day|A day has 86,400 seconds
years are in a decade|A decade has ten years
years are in a century|A century has 100 years
years are in a millennium|A millennium has 1,000 years
legs does a spider have|A spider has eight legs
legs does an insect have|An insect has six legs
legs does an ant have|An ant has six legs
legs does a bee have|A bee has six legs
legs does a dog have|A dog has four legs
legs does a cat have|A cat has four legs
legs does a bird have|A bird has two legs
legs does a crab have|A crab has ten legs
arms does an octopus have|An octopus has eight arms
hearts does an octopus have|An octopus has three hearts
legs does a snake have|A snake has no legs
eyes does a spider have|Most spiders have eight eyes
eyes does a bee have|A bee has five eyes, two large and three small ones
humps does a camel have|A camel has one or two humps, depending on its kind
wings does a bee have|A bee has four wings
wings does a butterfly have|A butterfly has four wings
teeth does an adult have|An adult has 32 teeth with the wisdom teeth
teeth does a child have|A child has 20 milk teeth
bones does a human have|An adult has 206 bones
bones does a baby have|A baby has about 300 bones. Some of them grow together later
fingers does a hand have|A hand has five fingers with the thumb
toes do people have|People have ten toes, five on each foot
senses do people have|People have five classic senses: sight, hearing, smell, taste and touch
lungs do people have|People have two lungs
kidneys do people have|People have two kidneys
ribs do people have|People have 24 ribs, twelve on each side
chambers does the heart have|The human heart has four chambers
sides does a triangle have|A triangle has three sides
sides does a square have|A square has four equal sides
sides does a pentagon have|A pentagon has five sides
sides does a hexagon have|A hexagon has six sides
sides does an octagon have|An octagon has eight sides
sides does a circle have|A circle has no straight sides
faces does a cube have|A cube has six faces
corners does a cube have|A cube has eight corners
edges does a cube have|A cube has twelve edges
degrees are in a circle|A circle has 360 degrees
degrees are in a right angle|A right angle has 90 degrees
degrees are in a triangle|The angles of a triangle add up to 180 degrees
continents are there|There are seven continents: Africa, Antarctica, Asia, Europe, North America, Oceania and South America
oceans are there|There are five oceans: the Pacific, the Atlantic, the Indian, the Southern and the Arctic Ocean
planets are there|There are eight planets in our solar system
moons does the Earth have|The Earth has one moon
moons does Mars have|Mars has two moons, Phobos and Deimos
moons does Venus have|Venus has no moon
moons does Mercury have|Mercury has no moon
countries are there in the world|There are a little less than 200 countries in the world
people are there in the world|There are more than eight billion people in the world
states does the USA have|The USA has 50 states
stars are on the American flag|The American flag has 50 stars
stripes are on the American flag|The American flag has thirteen stripes
stars are on the European flag|The European flag has twelve stars
players are in a football team|A football team has eleven players on the field
players are in a soccer team|A soccer team has eleven players on the field
players are in a basketball team|A basketball team has five players on the court
players are in a volleyball team|A volleyball team has six players on the court
players are in a baseball team|A baseball team has nine players on the field
players are in an ice hockey team|An ice hockey team has six players on the ice, with the goalkeeper
players are in a rugby team|A rugby union team has 15 players
players are in a cricket team|A cricket team has eleven players
players are in a handball team|A handball team has seven players on the court
holes does a golf course have|A full golf course has 18 holes
rings are in the Olympic sign|The Olympic sign has five rings
strings does a guitar have|A guitar mostly has six strings
strings does a violin have|A violin has four strings
strings does a bass have|A bass mostly has four strings
keys does a piano have|A piano has 88 keys, 52 white and 36 black ones
notes are in an octave|An octave has twelve half steps, and a major scale has seven different notes
letters are in the alphabet|The English alphabet has 26 letters
vowels are there|English has five vowel letters: a, e, i, o and u
squares are on a chess board|A chess board has 64 squares
pieces are in a chess game|A chess game has 32 pieces, 16 for each player
cards are in a deck|A deck has 52 cards without the jokers
dots are on a die|A die has 21 dots in all
wheels does a car have|A car has four wheels
wheels does a bicycle have|A bicycle has two wheels
wheels does a tricycle have|A tricycle has three wheels
eggs are in a dozen|A dozen eggs are twelve eggs
things are in a dozen|A dozen is twelve
centimetres are in a metre|A metre has 100 centimetres
millimetres are in a centimetre|A centimetre has ten millimetres
metres are in a kilometre|A kilometre has 1,000 metres
kilometres are in a mile|A mile is about 1.6 kilometres
inches are in a foot|A foot has twelve inches
centimetres are in an inch|An inch is 2.54 centimetres
feet are in a yard|A yard has three feet
feet are in a mile|A mile has 5,280 feet
grams are in a kilogram|A kilogram has 1,000 grams
kilograms are in a ton|A metric ton has 1,000 kilograms
pounds are in a kilogram|A kilogram is about 2.2 pounds
ounces are in a pound|A pound has 16 ounces
millilitres are in a litre|A litre has 1,000 millilitres
cents are in a dollar|A dollar has 100 cents
cents are in a euro|A euro has 100 cents
pence are in a pound|A British pound has 100 pence
zeros does a million have|A million has six zeros
zeros does a billion have|A billion has nine zeros
zeros does a thousand have|A thousand has three zeros
bits are in a byte|A byte has eight bits
bytes are in a kilobyte|A kilobyte has 1,000 bytes, or 1,024 in the old way of counting
megabytes are in a gigabyte|A gigabyte has 1,000 megabytes, or 1,024 in the old way of counting
colours does a rainbow have|A rainbow has seven colours: red, orange, yellow, green, blue, indigo and violet
seasons are there|There are four seasons: spring, summer, autumn and winter
hours should I sleep|Most adults need 7 to 9 hours of sleep
stomachs does a cow have|A cow has one stomach with four parts
lives does a cat have|A cat has only one life, of course. The nine lives are a saying
"""

# which | answer (the thing first)
RECORDS = """
the biggest planet|Jupiter|the solar system|It is a giant ball of gas
the smallest planet|Mercury|the solar system|It is also the planet that is closest to the sun
the hottest planet|Venus|the solar system|Its ground is at more than 450 degrees Celsius
the coldest planet|Neptune, together with Uranus,|the solar system|At their clouds it is about minus 200 degrees Celsius
the closest star to the Earth|the sun||After it comes Proxima Centauri, about 4.2 light years away
the closest planet to the sun|Mercury||It is about 58 million kilometres from the sun
the biggest country|Russia|the world|It lies in both Europe and Asia
the smallest country|Vatican City|the world|It lies inside the city of Rome
the country with the most people|India||China comes second
the biggest city|Tokyo or Jakarta, depending on how one counts,|the world|More than 30 million people live in and around each of them
the biggest continent|Asia|the world|It is also the continent on which most people live
the smallest continent|Australia|the world|It is a country as well
the biggest ocean|the Pacific Ocean|the world|It covers about a third of the earth
the smallest ocean|the Arctic Ocean|the world|It lies around the North Pole
the deepest place of the sea|the Mariana Trench||It is almost 11 kilometres deep
the longest river|the Nile in Africa, with about 6,650 kilometres|the world|The Amazon in South America is nearly as long
the river with the most water|the Amazon|the world|It flows through South America
the longest river in Europe|the Volga||It flows through Russia
the longest river in Asia|the Yangtze||It flows through China
the highest mountain|Mount Everest|the world|Its top is about 8,849 metres above the sea
the second highest mountain|K2|the world|It is 8,611 metres high
the highest mountain in Africa|Kilimanjaro||It is 5,895 metres high and stands in Tanzania
the highest mountain in Europe|Mount Elbrus||It is 5,642 metres high and stands in Russia
the highest mountain of the Alps|Mont Blanc||It is about 4,806 metres high
the highest mountain in North America|Denali||It is 6,190 metres high and stands in Alaska
the highest mountain in South America|Aconcagua||It is 6,961 metres high and stands in Argentina
the highest mountain in Japan|Mount Fuji||It is 3,776 metres high
the longest mountain range|the Andes|the world|They lie in South America
the biggest desert|Antarctica|the world|The largest hot desert is the Sahara in the north of Africa
the biggest hot desert|the Sahara|the world|It lies in the north of Africa
the biggest island|Greenland|the world|It belongs to Denmark
the biggest lake|the Caspian Sea|the world|Its water is salty
the deepest lake|Lake Baikal|the world|It lies in Russia and is about 1,640 metres deep
the highest waterfall|Angel Falls in Venezuela|the world|It is about 979 metres high
the biggest rainforest|the Amazon rainforest|the world|It lies in South America
the biggest coral reef|the Great Barrier Reef|the world|It lies near Australia
the coldest place|Antarctica|the world|Almost minus 90 degrees Celsius have been measured there
the hottest place|Death Valley|the world|More than 56 degrees Celsius have been measured there
the driest place|the dry valleys of Antarctica|the world|The driest hot desert is the Atacama in Chile
the tallest building|the Burj Khalifa|the world|It is 828 metres high and stands in Dubai
the longest wall|the Great Wall of China|the world|It is thousands of kilometres long
the biggest animal|the blue whale|the world|It can be about 30 metres long
the biggest land animal|the African elephant|the world|A big male can weigh six tonnes
the tallest animal|the giraffe|the world|It can be more than five metres tall
the fastest land animal|the cheetah|the world|For a short time it runs about 100 kilometres an hour
the fastest bird|the peregrine falcon|the world|It dives at more than 300 kilometres an hour
the fastest fish|the sailfish|the sea|It is said to swim about 100 kilometres per hour
the slowest mammal|the sloth|the world|It lives in trees and hardly moves
the biggest bird|the ostrich|the world|It cannot fly, but it runs very fast
the smallest bird|the bee hummingbird of Cuba|the world|It is only about five to six centimetres long
the biggest fish|the whale shark|the world|It eats tiny animals and is harmless
the biggest cat|the tiger|the world|It can weigh 300 kilograms
the biggest bear|the polar bear|the world|A male weighs up to 600 kilograms
the biggest snake|the green anaconda|the world|The longest one is the reticulated python
the biggest spider|the Goliath birdeater|the world|With its legs it is almost 30 centimetres wide
the biggest reptile|the saltwater crocodile|the world|It can be 6 metres long
the biggest monkey|the mandrill|the world|Gorillas are bigger, but they are apes
the biggest dinosaur|probably Argentinosaurus||It may have been 35 metres long
the animal that lives longest|probably the Greenland shark, if one counts only animals with a backbone,||It can get more than 250 years old
the tallest tree|a redwood called Hyperion in California|the world|It is about 116 metres tall
the fastest growing plant|bamboo|the world|It can grow almost a metre in a day
the biggest flower|Rafflesia|the world|It is about a metre wide and smells bad
the biggest organ of the body|the skin||It covers the whole body
the longest bone of the body|the thigh bone||It goes from the hip to the knee
the smallest bone of the body|the stirrup||It lies in the middle ear and is only about 3 millimetres long
the strongest muscle of the body|the jaw muscle, for its size,||It is used for chewing
the hardest natural material|diamond||It is a clear stone made of carbon
the lightest element|hydrogen||It is a gas
the most common gas in the air|nitrogen||It is about 78 percent of the air
the fastest thing|light|the universe|It travels about 300,000 kilometres in a second
the longest day of the year|about June 21 in the north||In the south it is about December 21
the shortest day of the year|about December 21 in the north||In the south it is about June 21
the shortest month|February||It has 28 days, and 29 in a leap year
the smallest prime number|2||It is the only even prime number
the most spoken language|English|the world|Chinese has the most people who speak it from birth
the most popular sport|football|the world|It is called soccer in the United States
the most visited country|France|the world|Its capital is Paris
the oldest university in Europe|the University of Bologna||It was founded in 1088
the first man on the moon|Neil Armstrong||He stepped on it on 20 July 1969
the second man on the moon|Buzz Aldrin||He landed there with Neil Armstrong in 1969
the first man in space|Yuri Gagarin||He flew around the Earth in 1961
the first woman in space|Valentina Tereshkova||She flew in 1963
the first president of the United States|George Washington||He became president in 1789
the first woman to win a Nobel Prize|Marie Curie||She won it in 1903
the first programmer|Ada Lovelace||She wrote a program for a machine in 1843
the first emperor of Rome|Augustus||He ruled until the year 14
the first animal in orbit|a dog called Laika||She flew in 1957
"""


@dataclass(frozen=True, slots=True)
class Facet:
    """One thing that is asked about each of a group."""

    asks: tuple[str, ...]
    reserved: tuple[str, ...]
    then: tuple[str, ...]  # behind another question about the same thing


FACETS: Mapping[str, Mapping[str, Facet]] = {
    "land": {
        "capital": Facet(
            ("what is the capital of {x}", "capital of {x}", "whats {x}'s capital"),
            ("which city is {x}'s capital",),
            ("what is its capital", "and the capital", "what's the capital there",
             "which city is the capital", "and what is the capital city"),
        ),
        "tongue": Facet(
            ("what language do they speak in {x}", "what language is spoken in {x}",
             "which language do people speak in {x}", "language of {x}", "language in {x}",
             "what do people speak in {x}", "what languages do they speak in {x}",
             "what is the official language of {x}", "{x} language", "languages spoken in {x}",
             "which languages are spoken in {x}", "what's the language of {x}"),
            ("what tongue do they speak in {x}", "in {x}, which language do they talk"),
            ("what language do they speak there", "and the language", "what do they speak there",
             "which language is spoken there", "and what language do people speak",
             "what language do people speak there", "what languages are spoken there",
             "language", "what is the language there", "do they speak English there"),
        ),
        "money": Facet(
            ("what is the currency of {x}", "currency of {x}", "what money do they use in {x}",
             "which currency does {x} use", "what currency is used in {x}", "{x} currency",
             "what do you pay with in {x}", "what is the money in {x} called",
             "what kind of money does {x} have", "which money do I need in {x}"),
            ("how do people pay in {x}", "the money of {x} is called what"),
            ("what money do they use there", "what is the currency there", "and the currency",
             "what currency do they have", "which money do I need there", "currency",
             "what do you pay with there", "and their money"),
        ),
        "people": Facet(
            ("how many people live in {x}", "population of {x}", "what is the population of {x}",
             "how many people are there in {x}", "{x} population", "how many inhabitants has {x}",
             "how big is the population of {x}", "number of people in {x}"),
            ("how many people does {x} have",),
            ("how many people live there", "and the population", "what is its population",
             "how many people are there", "how many live there", "population",
             "and how many inhabitants does it have"),
        ),
        "place": Facet(
            ("where is {x}", "which continent is {x} on", "what continent is {x} in"),
            ("on what continent does one find {x}",),
            ("where is it", "where is that", "which continent is it on", "and where is that",
             "where does it lie", "what continent is that", "where on the map is it"),
        ),
        "known": Facet(
            ("what is {x} known for", "what is {x} famous for", "tell me about {x}"),
            ("why is {x} famous",),
            ("what is it known for", "tell me more about it", "what is it famous for",
             "anything special there", "what else do you know about it", "tell me more"),
        ),
    },
    "sky": {
        "heat": Facet(
            ("how hot is {x}", "what is the temperature of {x}", "how warm is {x}",
             "how cold is {x}", "temperature on {x}", "how many degrees does {x} have"),
            ("what temperature does {x} have",),
            ("how hot is it", "how hot is that", "how warm is it there", "is it hot",
             "and how hot", "what temperature is it", "how cold is it", "is it cold there",
             "how hot does it get", "and the temperature"),
        ),
        "size": Facet(
            ("how big is {x}", "how large is {x}", "size of {x}", "what is the diameter of {x}",
             "how wide is {x}", "what size is {x}"),
            ("what is the size of {x}",),
            ("how big is it", "how large is it", "and its size", "how wide is it", "how big is that",
             "and how big", "what size is it"),
        ),
        "way": Facet(
            ("how far away is {x}", "how far is {x}", "distance to {x}", "how far off is {x}"),
            ("what is the distance of {x}",),
            ("how far away is it", "how far is it", "and how far is that", "how far away",
             "what is the distance"),
        ),
        "turn": Facet(
            ("how long is a year on {x}", "how long does {x} take to go around",
             "how fast does {x} turn"),
            ("how long does {x} need for one turn",),
            ("how long is a year there", "how long does it take to go around",
             "how long does one turn take"),
        ),
        "note": Facet(
            ("what is {x}", "tell me about {x}", "what is special about {x}",
             "tell me something about {x}", "what do you know about {x}"),
            ("describe {x}",),
            ("tell me more about it", "what else", "what is it exactly", "tell me more",
             "what is special about it"),
        ),
    },
    "beast": {
        "size": Facet(
            ("how big are {x}", "how big do {x} get", "how large are {x}", "size of {x}",
             "how big can {x} get", "how tall are {x}", "how heavy are {x}"),
            ("what size do {x} have",),
            ("how big are they", "how big do they get", "and how big", "how large are they",
             "are they big", "and their size", "how big do those get", "how big can they get"),
        ),
        "speed": Facet(
            ("how fast are {x}", "how fast can {x} go", "how fast do {x} move", "speed of {x}",
             "what is the top speed of {x}"),
            ("what speed do {x} reach",),
            ("how fast are they", "how fast can they go", "are they fast", "and how fast",
             "what is their top speed", "and their speed"),
        ),
        "age": Facet(
            ("how long do {x} live", "how old do {x} get", "how old can {x} get",
             "what is the life span of {x}", "lifespan of {x}", "what age do {x} reach"),
            ("how many years do {x} live",),
            ("how long do they live", "how old do they get", "and how old do they get",
             "how old can they become", "what is their lifespan", "and how long do they live"),
        ),
        "danger": Facet(
            ("are {x} dangerous", "are {x} dangerous animals", "{x} dangerous?",
             "are {x} dangerous to humans", "should I be afraid of {x}"),
            ("are {x} a danger to people",),
            ("are they dangerous", "and are they dangerous", "are those dangerous",
             "dangerous?", "should I be afraid of them", "are they dangerous to people"),
        ),
        "food": Facet(
            ("what do {x} eat", "what do {x} like to eat", "food of {x}"),
            ("what is the food of {x}",),
            ("what do they eat", "and what do they eat", "what do those eat", "their food",
             "what do they feed on"),
        ),
        "home": Facet(
            ("where do {x} live", "where can you find {x}", "home of {x}"),
            ("where is the home of {x}",),
            ("where do they live", "and where do they live", "where can I find them",
             "where are they found", "what is their home"),
        ),
    },
    "spot": {
        "place": Facet(
            ("where is {x}", "where can I find {x}", "in which country is {x}",
             "what country is {x} in", "{x} where", "where does one find {x}"),
            ("where on earth is {x}",),
            ("where is it", "where is that", "and where is it", "in which country is that",
             "what country is it in", "where can I see it"),
        ),
        "size": Facet(
            ("how {how} is {x}", "how {how} exactly is {x}", "do you know how {how} {x} is",
             "{x} how {how}", "tell me how {how} {x} is"),
            ("i wonder how {how} {x} is",),
            ("how {how} is it", "and how {how} is it", "how {how} is that", "how {how}",
             "how {how} exactly"),
        ),
        "age": Facet(
            ("how old is {x}", "when was {x} built", "age of {x}", "what year was {x} built"),
            ("in which year was {x} built",),
            ("how old is it", "when was it built", "when was that", "and how old is it"),
        ),
    },
}  # fmt: skip
OTHER = (
    "and {x}", "what about {x}", "and what about {x}", "how about {x}", "ok and {x}", "{x}",
    "and for {x}", "same for {x}", "now {x}", "what about {x} then",
)  # fmt: skip
OTHER_RESERVED = ("and how is it for {x}",)
OPENING = ("", "", "", "", "", "", "do you know ", "quick question, ", "can you tell me ", "so ")


@dataclass(frozen=True, slots=True)
class Thing:
    name: str
    answers: Mapping[str, str]
    how: str = ""  # the word for its size: high, long, deep


@cache
def things(group: str) -> tuple[Thing, ...]:
    """The things of a group, the best known ones first."""
    made = []
    if group == "land":
        known = {row[0]: row[1:] for row in rows(facts.COUNTRIES)}
        for name, tongue, money, people in rows(LANDS):
            answers = {
                "tongue": f"In {name}, people speak {tongue}.",
                "money": f"In {name}, people pay with {money}.",
                "people": f"About {people} people live in {name}.",
            }
            if name in known:
                capital, where, note = known[name]
                answers["capital"] = f"The capital of {name} is {capital}."
                answers["place"] = f"{sentence(name)} is in {where}."
                answers["known"] = f"{sentence(name)} {note}."
            made.append(Thing(name, answers))
    elif group == "sky":
        for name, *told in rows(SKY):
            keys = ("heat", "size", "way", "turn", "note")
            made.append(Thing(name, {k: f"{text}." for k, text in zip(keys, told, strict=True)}))
    elif group == "spot":
        for name, where, size, age, how in rows(SPOTS):
            answers = {
                "place": _said().get(
                    f"place of {name.removeprefix('the ')}".lower(), f"{sentence(name)} is {where}."
                ),
                "size": f"{sentence(name)} is {size}.",
            }
            if age != "-":
                natural = age.startswith("It is about") and "million" in age
                answers |= {} if natural else {"age": f"{age}."}
            made.append(Thing(name, answers, how))
    else:
        topics = facts._by_name()
        for name, size, speed, age, danger in rows(BEASTS):
            many = sentence(name)
            unit = speed if " " in speed and "to" not in speed.split() else ""
            fast = _speed(speed) if not unit else _speed(unit)
            answers = {
                "size": f"{many} are {size}.",
                "speed": f"{many} reach {fast}.",
                "age": f"{many} live {age}{'' if 'weeks' in age else ' years'}.",
                "danger": f"{danger}.",
            }
            if "years" not in answers["age"] and "several" in age:
                answers["age"] = f"{many} live {age} years."
            if "much longer" in age:
                answers["age"] = f"{many} live 1 to 2 years, and a queen much longer."
            answers["age"] = _said().get(f"age of {name}", answers["age"])
            for key in ("food", "home"):
                if topic := topics.get(f"{key} of {name}"):
                    answers[key] = topic.answers[-1]
            made.append(Thing(name, answers))
    return tuple(made)


def _likely(rng: random.Random, items: Sequence[Thing]) -> Thing:
    """One of `items`, those at the start somewhat more often."""
    return items[int(len(items) * rng.random() ** 1.4)]


def _speed(speed: str) -> str:
    """`30 in the water` -> `about 30 kilometres per hour in the water`."""
    number, mark, where = speed.partition(" in ")
    more = number.endswith(" and more")
    number = number.removesuffix(" and more")
    tail = " and more" if more else ""
    return f"about {number} kilometres per hour{tail}{mark}{where}"


def _typed(rng: random.Random, form: str, name: str) -> str:
    text = spoken(rng, rng.choice(OPENING) + form.replace("{x}", name))
    if name.startswith("the ") and form == "{x} language":
        text = spoken(rng, form.replace("{x}", name.removeprefix("the ")))
    return typed_with(rng, text, name.removeprefix("the "))


def _then(rng: random.Random, form: str, name: str) -> str:
    """A follow-up, mostly typed in small letters and without a question mark."""
    text = spoken(rng, form.replace("{x}", name))
    way = rng.random()
    if way < 0.45:
        return text.lower().rstrip(".?")
    if way < 0.6:
        return text.rstrip(".") + ("" if text.endswith("?") else "?")
    return text


def about(rng: random.Random, held_out: bool) -> Conversation:
    """A question about a country, a thing in the sky or an animal, then others that lean on it."""
    group = rng.choices(("land", "sky", "beast", "spot"), (5, 2.5, 4, 2))[0]
    facets = FACETS[group]
    thing = _likely(rng, things(group))
    key = rng.choice(sorted(thing.answers))
    asks = facets[key].reserved if held_out else facets[key].asks
    form = rng.choice(asks).replace("{how}", thing.how)
    turns = [_typed(rng, form, thing.name), thing.answers[key]]
    return chat(*turns, *_led_on(rng, group, thing, key, held_out, 0.72))


def _led_on(
    rng: random.Random, group: str, thing: Thing, key: str, held_out: bool, more: float
) -> list[str]:
    """Questions about the same thing or the same question about another one."""
    facets, turns = FACETS[group], list[str]()
    seen = {(thing.name, key)}
    while rng.random() < more:
        more = 0.45
        if key and rng.random() < 0.35:
            fits = [
                t
                for t in things(group)
                if key in t.answers and (t.name, key) not in seen and t.how == thing.how
            ]
            if not fits:
                break
            thing = _likely(rng, fits)
            form = rng.choice(OTHER_RESERVED if held_out else OTHER)
        else:
            left = [k for k in sorted(thing.answers) if (thing.name, k) not in seen]
            if not left:
                break
            key = rng.choice(left)
            form = rng.choice(facets[key].then).replace("{how}", thing.how)
        answer = thing.answers[key]
        if form == "do they speak English there":
            english = "English" in answer
            answer = f"{'Yes' if english else 'Some people do, but it is not the main language'}. {answer}"
        seen.add((thing.name, key))
        turns += [_then(rng, form, thing.name), answer]
    return turns


def _ask(rng: random.Random, forms: Sequence[str], held_out: bool, *slots: str) -> str:
    """One of `forms`, of which the last is reserved, with its places filled."""
    form = forms[-1] if held_out else rng.choice(forms[:-1])
    return typed_with(rng, spoken(rng, form.format(*slots)), *slots)


MIX = (
    "what color do you get if you mix {0} and {1}", "what colour do you get if you mix {0} and {1}",
    "what color does {0} and {1} make", "what colour do {0} and {1} make",
    "what do {0} and {1} make", "{0} and {1} make what color", "{0} + {1} = what color",
    "what happens when you mix {0} and {1}", "what happens if I mix {0} with {1}",
    "mix {0} and {1}", "mixing {0} and {1}", "if I mix {0} paint with {1} paint what do I get",
    "what color is {0} and {1} mixed", "{0} and {1} mixed gives what",
    "what color do I get when I mix {0} and {1} together", "{0} and {1} together is what colour",
    "what's {0} mixed with {1}", "combine {0} and {1}, what color is it",
    "what color will I get from {0} and {1} paint", "i have {0} and {1} paint, what can i make",
    "which colour comes out if you mix {0} and {1}", "what does {0} plus {1} make",
    "what colour would {0} and {1} make",
)  # fmt: skip
UNMIX = (
    "how do you make {0}", "how do I make the color {0}", "how to make {0} paint",
    "what colors make {0}", "which colours make {0}", "what two colors make {0}",
    "how do I mix {0}", "what do I mix to get {0}", "which colors do I need for {0}",
    "how can I get {0} from other colours",
)  # fmt: skip
MADE = {"green": 0, "orange": 1, "purple": 2, "pink": 3, "grey": 4, "light blue": 5, "brown": 6}


def colours(rng: random.Random, held_out: bool) -> Conversation:
    """Two colours of paint, or what makes a colour; often a second pair after it."""
    table = rows(MIXTURES)
    if rng.random() < 0.25:
        made = rng.choice(list(MADE))
        a, b, _ = table[MADE[made]]
        return chat(_ask(rng, UNMIX, held_out, made), f"Mix {a} and {b} to get {made}.")
    turns: list[str] = []
    pairs = list(table)
    for i in range(1 if rng.random() < 0.7 else 2):
        row = early(rng, pairs)
        pairs.remove(row)
        a, b = rng.sample(row[:2], 2)
        asks = (f"and {a} and {b}", f"what about {a} and {b}", f"{a} and {b}", f"and {a} with {b}")
        asked = _then(rng, rng.choice(asks), "") if i else _ask(rng, MIX, held_out, a, b)
        turns += [asked, f"{sentence(a)} and {b} make {row[2]}."]
    return chat(*turns)


BY = {
    "wrote": ("who wrote {0}", "author of {0}", "who is the author of {0}", "{0} author",
              "who is {0} by", "which author wrote {0}", "who was {0} written by",
              "by whom was {0} written"),
    "painted": ("who painted {0}", "painter of {0}", "who is the painter of {0}",
                "which artist painted {0}", "who made the painting {0}", "who was {0} painted by",
                "by whom was {0} painted"),
    "made": ("who made {0}", "who created {0}", "artist of {0}", "which artist made {0}",
             "by whom was {0} made"),
    "composed": ("who composed {0}", "who wrote {0}", "composer of {0}",
                 "which composer wrote {0}", "who is the composer of {0}", "who wrote the music {0}",
                 "by whom was {0} composed"),
    "invented": ("who invented {0}", "inventor of {0}", "who came up with {0}",
                 "who was the inventor of {0}", "who was it that invented {0}",
                 "who had the idea of {0}"),
    "discovered": ("who discovered {0}", "discoverer of {0}", "who was the first to find {0}",
                   "who found {0}", "by whom was {0} discovered"),
    "found": ("who found {0}", "who discovered {0}", "who came up with {0}",
              "by whom was {0} found"),
}  # fmt: skip
DID = {
    "wrote": ("what did {0} write", "what books did {0} write", "name something by {0}",
              "what is {0} known for", "what is {0} famous for", "tell me a work by {0}"),
    "painted": ("what did {0} paint", "name a painting by {0}", "what is {0} known for",
                "what is {0} famous for", "tell me a picture by {0}"),
    "made": ("what did {0} make", "what is {0} known for", "name a work of {0}"),
    "composed": ("what did {0} compose", "name a piece by {0}", "what is {0} known for",
                 "what music did {0} write", "tell me a work by {0}"),
}  # fmt: skip
PLURAL = (
    "X-rays", "blue jeans", "the moons of Jupiter", "the Sunflowers", "the Water Lilies",
    "the Four Seasons", "Great Expectations", "The Chronicles of Narnia",
)  # fmt: skip
WHEN_FOUND = (
    "when was that",
    "when",
    "in what year",
    "and when",
    "what year was that",
    "when was it",
)


@cache
def _said() -> dict[str, str]:
    """What the small tables answer to the same questions: one question has one answer."""
    said: dict[str, str] = {}
    for table in tables.tables():
        for row in table.rows:
            answer = tables.answered(table, row)
            if table.name == "authors":
                said[f"wrote {row['x']}".lower()] = answer
            elif table.name == "makers":
                said[f"{row['v'].removeprefix('who ')} {row['x']}".lower()] = answer
            elif table.name == "places":
                said[f"place of {row['x'].removeprefix('the ')}".lower()] = answer
            elif table.name == "life spans":
                said[f"age of {row['x']}"] = answer
            elif table.name == "numbers":
                said[f"{row['x']} {row['y']}".lower()] = answer
    return said


def _made_by(work: str, did: str, who: str) -> str:
    """By whom a work is."""
    done = {"wrote": "written"}.get(did, did)
    were = "were" if work in PLURAL else "was"
    generic = f"{sentence(work)} {were} {done} by {who}."
    return _said().get(f"{did} {work}".lower(), generic)


def _found_by(what: str, did: str, who: str, when: str) -> str:
    """Who invented or discovered it, and when: an answer to both questions."""
    done = "worked out" if "theory" in what else did
    were = "were" if what in PLURAL else "was"
    since = when if when.startswith("about") else f"in {when}"
    return f"{sentence(what)} {were} {done} by {who} {since}."


def works(rng: random.Random, held_out: bool) -> Conversation:
    """Who wrote, painted or composed it, and what somebody did."""
    table = rows(WORKS)
    work, did, who, _ = rng.choice(table)
    if rng.random() < 0.25:
        theirs = [w for w, d, name, _ in table if name == who and d == did][:3]
        told = theirs[0] if len(theirs) == 1 else f"{', '.join(theirs[:-1])} and {theirs[-1]}"
        return chat(_ask(rng, DID[did], held_out, who), f"{who} {did} {told}.")
    turns = [_ask(rng, BY[did], held_out, work), _made_by(work, did, who)]
    if rng.random() < 0.25:
        other = rng.choice([row for row in table if row[1] == did and row[0] != work])
        said = _made_by(*other[:3])
        turns += [_then(rng, rng.choice(OTHER), other[0]), said]
    return chat(*turns)


def found(rng: random.Random, held_out: bool) -> Conversation:
    """Who invented or discovered it, and when."""
    table = rows(FOUND)
    what, did, who, when = early(rng, table)
    said = _found_by(what, did, who, when)
    forms = BY[did]
    if rng.random() < 0.3:
        was = "were" if what in PLURAL else "was"
        done = "worked out" if "theory" in what else did
        asks = (f"when {was} {what} {done}", f"what year {was} {what} {done}",
                f"in what year {was} {what} {done}", f"{what} {done} when",
                f"{what}: {done} in which year")  # fmt: skip
        return chat(_ask(rng, [a.replace("{", "") for a in asks], held_out), said)
    turns = [_ask(rng, forms, held_out, what), said]
    if rng.random() < 0.3:
        asked = rng.choice(WHEN_FOUND)
        turns += [
            _then(rng, asked, ""),
            f"That was {'' if when.startswith('about') else 'in '}{when}.",
        ]
    return chat(*turns)


def events(rng: random.Random, held_out: bool) -> Conversation:
    """The year of an event."""
    form, name, year, note = early(rng, rows(EVENTS))
    asks = ("when " + form, "what year " + form, "in which year " + form, "year of " + name,
            "when was " + name, "date of " + name, name + " year", "do you know when " + name + " was",
            "tell me the year of " + name)  # fmt: skip
    said = f"{sentence(name)} was in {year}. {note}."
    turns = [_ask(rng, asks, held_out), said]
    if rng.random() < 0.3:
        _, other, year, note = early(rng, [row for row in rows(EVENTS) if row[1] != name])
        turns += [_then(rng, rng.choice(OTHER), other), f"{sentence(other)} was in {year}. {note}."]
    return chat(*turns)


SIGN = (
    "what is the chemical symbol for {0}", "chemical symbol of {0}", "symbol for {0}",
    "what is the symbol of {0}", "{0} symbol", "what does {0} have as a symbol in chemistry",
    "what letters stand for {0} in chemistry", "which chemical sign does {0} have",
)  # fmt: skip
UNSIGN = (
    "which element has the symbol {0}", "what element is {0}", "what does {0} stand for in chemistry",
    "{0} is which element", "what is {0} in the periodic table", "element {0}",
    "which chemical element is {0}",
)  # fmt: skip
NUMBER = (
    "what is the atomic number of {0}", "atomic number of {0}", "which number has {0} in the periodic table",
    "{0} atomic number", "at which number does {0} stand in the periodic table",
)  # fmt: skip


def signs(rng: random.Random, held_out: bool) -> Conversation:
    """Chemical elements: sign, number, and what the sign means."""
    table = rows(SIGNS)
    name, sign, number, note = rng.choice(table)
    way = rng.randrange(5)
    if way < 2:
        turns = [
            _ask(rng, SIGN, held_out, name),
            f"{sentence(name)} is written {sign} in chemistry.",
        ]
        if rng.random() < 0.3:
            other = rng.choice([row for row in table if row[0] != name])
            turns += [
                _then(rng, rng.choice(OTHER), other[0]),
                f"{sentence(other[0])} is written {other[1]} in chemistry.",
            ]
        return chat(*turns)
    if way < 4:
        form = UNSIGN[-1] if held_out else rng.choice(UNSIGN[:-1])
        asked = sentence(form.format(sign)) + rng.choice(("", "?"))
        return chat(asked, f"{sign} is the symbol of {name}. {sentence(name)} is {note}.")
    return chat(_ask(rng, NUMBER, held_out, name), f"The atomic number of {name} is {number}.")


def counts(rng: random.Random, held_out: bool) -> Conversation:
    """How many there are."""
    what, answer = early(rng, _mixed(rows(COUNTS)))
    thing, _, rest = what.partition(" ")
    asks = [f"how many {what}", f"how many {what} please", f"so how many {what}"]
    if rest.startswith("are in "):
        of = rest.removeprefix("are in ")
        asks += [f"how many {thing} in {of}", f"how many {thing} does {of} have",
                 f"number of {thing} in {of}", f"{thing} in {of}", f"how many {thing} has {of}",
                 f"how much {thing} are in {of}"]  # fmt: skip
    elif rest.endswith(" have") and rest.startswith(("does ", "do ")):
        of = rest.removesuffix(" have").split(" ", 1)[1]
        be = "have" if rest.startswith("do ") else "has"
        asks += [f"how many {thing} {be} {of}", f"number of {thing} of {of}", f"{of} how many {thing}",
                 f"how many {thing} has {of} got" if be == "has" else f"how many {thing} do {of} got"]  # fmt: skip
    asks.append(f"can you say how many {what}")
    return chat(_ask(rng, asks, held_out), _said().get(_counted(what), f"{answer}."))


def _counted(what: str) -> str:
    """`strings does a guitar have` -> `strings a guitar`, as the small tables call it."""
    thing, _, rest = what.partition(" ")
    of = re.sub(r"^(?:are in|are on|does|do) ", "", rest).removesuffix(" have")
    return f"{thing} {of}".lower()


@cache
def _order(size: int) -> tuple[int, ...]:
    return tuple(random.Random(size).sample(range(size), size))


def _mixed(table: list[list[str]]) -> list[list[str]]:
    """The rows in another order, the same every time: their file is sorted by what they are of."""
    return [table[i] for i in _order(len(table))]


def records(rng: random.Random, held_out: bool) -> Conversation:
    """The biggest, the smallest, the first."""
    what, who, where, note = rng.choice(rows(RECORDS))
    start = what.split(" ", 1)[1]
    if start.startswith("biggest") and rng.random() < 0.5:
        start = start.replace("biggest", "largest", 1)
    if start.startswith("highest") and rng.random() < 0.3:
        start = start.replace("highest", "tallest", 1)
    within = ""
    if where and rng.random() < 0.5:
        within = f" {'on earth' if where == 'the world' and rng.random() < 0.3 else 'in ' + where}"
    word = "who is" if start.startswith(("first man", "first woman", "second man", "first pres",
                                         "first prog", "first emp")) else "what is"  # fmt: skip
    asks = [f"{word} the {start}{within}", f"{word.replace(' is', 's')} the {start}{within}",
            f"the {start}{within}", f"{start}{within}", f"name the {start}{within}",
            f"tell me the {start}{within}", f"do you know the {start}{within}",
            f"the {start}{within} is what" if word == "what is" else f"who was the {start}"]  # fmt: skip
    asks.append(f"i would like to know the {start}{within}")
    if " " not in start.split(" ", 1)[-1] and word == "what is" and within:
        noun = start.split(" ", 1)[-1]
        asks.insert(0, f"which {noun} is the {start.split(' ')[0]}{within}")
    places = {"": "", "the world": "", "the solar system": " of the solar system"}
    place = places.get(where, f" in {where}")
    is_ = "was" if word == "who is" or "first animal" in start else "is"
    said = f"The {start}{place} {is_} {who.rstrip(',')}. {note}."
    turns = [_ask(rng, asks, held_out), said]
    if rng.random() < 0.5 and (known := _named(who)):
        group, thing = known
        turns += _led_on(rng, group, thing, "", held_out, 1.0)
    return chat(*turns)


@cache
def _named(name: str) -> tuple[str, Thing] | None:
    """The thing of a group that a record is about, so that one can go on asking about it."""
    for group in FACETS:
        for thing in things(group):
            if name.removeprefix("the ") in (
                thing.name.removeprefix("the "), thing.name.removesuffix("s"),
                thing.name.replace("tches", "tch").replace("xes", "x"),
            ):  # fmt: skip
                return group, thing
    return None


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    """A question about a fact, often with one that leans on it."""
    kinds = (about, colours, works, found, events, signs, counts, records)
    kind = rng.choices(kinds, (9, 1.2, 1.6, 1.3, 1.4, 0.8, 2, 2.2))[0]
    return kind(rng, held_out)
