"""Facts and why-questions: hand-written everyday topics and tables of facts.

The topics stand in `answers/facts_*.txt`. The tables below give questions about countries, animals,
colours and tastes, materials, tools, jobs and the calendar: each row becomes several topics, asked
in both directions where the answer is clear. Some wordings are reserved, never the facts.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from functools import cache
from zlib import crc32

from assets.demo.recipe.corpus import definitions
from assets.demo.recipe.corpus.definitions import bare
from assets.demo.recipe.corpus.text import (
    ANSWERS,
    Conversation,
    Topic,
    as_typed,
    chat,
    drawn,
    listed,
    read_topics,
    sentence,
)
from assets.demo.recipe.corpus.text import with_article as a

# country | capital | where | what can be said of it
COUNTRIES = """
France|Paris|Europe|is known for its cheese, its bread and the Eiffel Tower
Germany|Berlin|Europe|has borders with nine other countries
Italy|Rome|Europe|has the shape of a boot and is known for pizza and pasta
Spain|Madrid|Europe|shares a peninsula with Portugal
Portugal|Lisbon|Europe|lies on the coast of the Atlantic Ocean
the United Kingdom|London|Europe|consists of England, Scotland, Wales and Northern Ireland
Ireland|Dublin|Europe|is also called the green island
the Netherlands|Amsterdam|Europe|is flat and is known for its tulips and windmills
Belgium|Brussels|Europe|is known for its chocolate and its waffles
Luxembourg|Luxembourg City|Europe|is a small country between France, Belgium and Germany
Switzerland|Bern|Europe|is known for its mountains, its cheese and its watches
Austria|Vienna|Europe|is known for the Alps and for its music
Liechtenstein|Vaduz|Europe|is a tiny country between Switzerland and Austria
Andorra|Andorra la Vella|Europe|lies in the mountains between France and Spain
Malta|Valletta|Europe|is a group of islands in the Mediterranean Sea
Greece|Athens|Europe|has many islands and very old temples
Denmark|Copenhagen|Europe|lies between the North Sea and the Baltic Sea
Norway|Oslo|Europe|is known for its fjords, which are long and deep bays
Sweden|Stockholm|Europe|has many forests and lakes
Finland|Helsinki|Europe|has very many lakes
Iceland|Reykjavik|Europe|is an island with volcanoes and hot springs
Estonia|Tallinn|Europe|lies on the Baltic Sea, north of Latvia
Latvia|Riga|Europe|lies on the Baltic Sea, between Estonia and Lithuania
Lithuania|Vilnius|Europe|lies on the Baltic Sea, south of Latvia
Poland|Warsaw|Europe|lies between Germany and Ukraine and has a coast on the Baltic Sea
the Czech Republic|Prague|Europe|lies between Germany, Poland, Slovakia and Austria
Slovakia|Bratislava|Europe|lies south of Poland and has high mountains
Hungary|Budapest|Europe|lies on the river Danube and is known for its paprika
Slovenia|Ljubljana|Europe|lies between the Alps and the Adriatic Sea
Croatia|Zagreb|Europe|has a long coast with more than a thousand islands
Serbia|Belgrade|Europe|lies on the river Danube
Montenegro|Podgorica|Europe|is a small country on the Adriatic Sea
Albania|Tirana|Europe|lies on the Adriatic Sea, north of Greece
North Macedonia|Skopje|Europe|lies north of Greece and has no coast
Bulgaria|Sofia|Europe|lies on the Black Sea and is known for its roses
Romania|Bucharest|Europe|lies on the Black Sea, north of the Danube
Moldova|Chisinau|Europe|lies between Romania and Ukraine
Ukraine|Kyiv|Europe|is known for its wide fields of wheat and sunflowers
Belarus|Minsk|Europe|lies between Poland and Russia
Russia|Moscow|Europe and Asia|is the largest country in the world
Turkey|Ankara|Asia and Europe|has its largest city, Istanbul, on two continents
Egypt|Cairo|Africa|is known for the river Nile and the pyramids
Morocco|Rabat|Africa|lies across the sea from Spain
Algeria|Algiers|Africa|is the largest country in Africa
Tunisia|Tunis|Africa|lies on the Mediterranean Sea, between Algeria and Libya
Libya|Tripoli|Africa|lies on the Mediterranean Sea, and most of it is desert
Ethiopia|Addis Ababa|Africa|is known as the home of coffee
Kenya|Nairobi|Africa|is known for its wild animals, such as lions and elephants
Uganda|Kampala|Africa|lies at Lake Victoria
Rwanda|Kigali|Africa|is called the land of a thousand hills
Ghana|Accra|Africa|is one of the largest growers of cocoa
Nigeria|Abuja|Africa|has more people than any other country in Africa
Senegal|Dakar|Africa|lies on the Atlantic Ocean, in the far west of Africa
Mali|Bamako|Africa|lies on the river Niger and has no coast
Niger|Niamey|Africa|is mostly desert and has no coast
Angola|Luanda|Africa|lies on the Atlantic Ocean, in the south of Africa
Namibia|Windhoek|Africa|has a very old desert, the Namib
Botswana|Gaborone|Africa|is known for its elephants and the Kalahari desert
Zimbabwe|Harare|Africa|shares the Victoria Falls with Zambia
Zambia|Lusaka|Africa|shares the Victoria Falls with Zimbabwe
Mozambique|Maputo|Africa|has a long coast on the Indian Ocean
Madagascar|Antananarivo|Africa|is a large island and the home of the lemurs
Somalia|Mogadishu|Africa|lies at the Horn of Africa
Sudan|Khartoum|Africa|lies south of Egypt on the river Nile
Cameroon|Yaounde|Africa|lies on the Gulf of Guinea
Liberia|Monrovia|Africa|lies on the Atlantic Ocean, in the west of Africa
China|Beijing|Asia|is known for the Great Wall and the giant panda
Japan|Tokyo|Asia|is made of islands and is known for its highest mountain, Mount Fuji
South Korea|Seoul|Asia|lies on a peninsula, south of North Korea
North Korea|Pyongyang|Asia|lies on a peninsula, north of South Korea
Mongolia|Ulaanbaatar|Asia|lies between Russia and China
India|New Delhi|Asia|is known for its spices and the Taj Mahal
Nepal|Kathmandu|Asia|has the highest mountain of the world, Mount Everest, on its border
Bhutan|Thimphu|Asia|is a small country in the mountains between India and China
Bangladesh|Dhaka|Asia|lies at the mouth of the river Ganges
Pakistan|Islamabad|Asia|lies west of India, on the river Indus
Afghanistan|Kabul|Asia|has high mountains and no coast
Iran|Tehran|Asia|was called Persia in former times
Iraq|Baghdad|Asia|lies on the rivers Euphrates and Tigris
Saudi Arabia|Riyadh|Asia|is mostly desert
Jordan|Amman|Asia|is known for the old rock city of Petra
Lebanon|Beirut|Asia|has a cedar tree on its flag
Oman|Muscat|Asia|lies in the south-east of the Arabian peninsula
Qatar|Doha|Asia|lies on a small peninsula in the Persian Gulf
Thailand|Bangkok|Asia|is known for its temples and its spicy food
Vietnam|Hanoi|Asia|has a long coast and grows much rice and coffee
Laos|Vientiane|Asia|lies on the river Mekong and has no coast
Cambodia|Phnom Penh|Asia|is known for the old temples of Angkor
Malaysia|Kuala Lumpur|Asia|lies partly on the island of Borneo
the Philippines|Manila|Asia|has more than seven thousand islands
Uzbekistan|Tashkent|Asia|lies on the old Silk Road
Armenia|Yerevan|Asia|lies in the mountains between Turkey and Azerbaijan
Canada|Ottawa|North America|has a maple leaf on its flag
the United States|Washington|North America|has fifty states and fifty stars on its flag
Mexico|Mexico City|North America|lies south of the United States
Cuba|Havana|North America|is the largest island of the Caribbean Sea
Jamaica|Kingston|North America|is an island in the Caribbean Sea and the home of reggae
Haiti|Port-au-Prince|North America|shares an island with the Dominican Republic
the Dominican Republic|Santo Domingo|North America|shares an island with Haiti
Guatemala|Guatemala City|North America|lies south of Mexico and has many volcanoes
Honduras|Tegucigalpa|North America|lies between Guatemala and Nicaragua
Nicaragua|Managua|North America|has a very large lake
Costa Rica|San Jose|North America|is known for its rainforests and its many birds
Panama|Panama City|North America|has a famous canal between two oceans
Colombia|Bogota|South America|has coasts on the Pacific Ocean and on the Caribbean Sea
Venezuela|Caracas|South America|has the highest waterfall of the world, the Angel Falls
Ecuador|Quito|South America|lies on the equator and owns the Galapagos Islands
Peru|Lima|South America|is known for the old city of Machu Picchu
Brazil|Brasilia|South America|is the largest country in South America
Chile|Santiago|South America|is very long and narrow
Argentina|Buenos Aires|South America|is known for the dance called tango
Uruguay|Montevideo|South America|lies between Brazil and Argentina
Paraguay|Asuncion|South America|has no coast
Australia|Canberra|Oceania|is the home of kangaroos and koalas
New Zealand|Wellington|Oceania|has two large islands and is the home of the kiwi
Fiji|Suva|Oceania|is a group of islands in the Pacific Ocean
Samoa|Apia|Oceania|is a group of islands in the Pacific Ocean
"""

# thing | colour | taste or a dash | what else can be said
THINGS = """
a banana|yellow when it is ripe|sweet|It is long, and you peel it before you eat it
a lemon|yellow|sour|Its juice is good in tea and on fish
a lime|green|sour|It is a small relative of the lemon
an orange|orange|sweet and a bit sour|It is full of juice
a strawberry|red|sweet|It has its tiny seeds on the outside
a raspberry|red|sweet and a bit sour|It grows on a bush with small thorns
a blueberry|blue|sweet and a bit sour|It grows on a low bush
a blackberry|black|sweet and a bit sour|It grows on a bush with thorns
a cherry|red|sweet|It has a hard stone inside
a tomato|red when it is ripe|mild and a bit sour|It is good in salads and sauces
a cucumber|green|fresh and mild|It is mostly water
a carrot|orange|a little sweet|It is a root and grows under the ground
a pea|green|a little sweet|It grows in a pod with other peas
a pumpkin|orange|mild and a little sweet|People make soup from it and carve faces into it
a watermelon|green on the outside and red inside|sweet|It is very good on a hot day
a kiwi fruit|brown on the outside and green inside|sweet and sour|It has a thin, hairy skin
an avocado|green|mild and creamy|It has a large stone inside
an aubergine|purple|mild|It is mostly fried or baked
a coconut|brown on the outside and white inside|a little sweet|It grows on palm trees
a peach|yellow and red|sweet|It has a soft, hairy skin and a stone inside
an apricot|orange|sweet|It is smaller than a peach
a mango|yellow and red|very sweet|It grows in warm countries
a pineapple|yellow inside|sweet and sour|It has a rough skin and stiff leaves on top
a radish|red on the outside and white inside|hot|It is a small root
a beetroot|dark red|sweet and earthy|Its juice colours everything red
spinach|green|mild and a bit bitter|Its leaves are eaten raw or cooked
broccoli|green|mild and a bit bitter|It looks like a tiny tree
a cauliflower|white|mild|It is a relative of the cabbage
garlic|white|hot and strong|A little of it is enough
a chili pepper|mostly red or green|very hot|It burns in the mouth
an olive|green or black|salty and a bit bitter|It grows on a tree and gives us oil
a mushroom|mostly white or brown|mild and hearty|Only those that are known to be safe may be eaten
ginger|light brown|hot and fresh|It is good in tea
cinnamon|brown|warm and a little sweet|It is made from the bark of a tree
pepper|mostly black|hot|It is ground and put on food
salt|white|salty|It brings out the taste of food
sugar|white|sweet|It dissolves in tea
honey|golden yellow|very sweet|It is made by bees
milk|white|mild and a little sweet|It comes mostly from cows
cream|white|mild and rich|It is the fatty part of milk
butter|light yellow|mild and rich|It is spread on bread
yogurt|white|sour|It is made from milk
dark chocolate|dark brown|bitter and sweet|It contains a lot of cocoa
black coffee|dark brown|bitter|Many people drink it in the morning
vinegar|clear or light brown|very sour|It is used in salad dressing
ketchup|red|sweet and sour|It is made from tomatoes
mustard|yellow|hot|It is eaten with sausages and cheese
rice|mostly white|mild|It goes well with almost everything
corn|yellow|sweet|Popcorn is made from it
bread crust|brown|hearty|It gets brown in the hot oven
an almond|brown|mild and nutty|It can be eaten raw or roasted
a walnut|brown|nutty and a bit bitter|You must crack its shell
the sky|blue by day|-|In the evening it can turn red
snow|white|-|It is made of tiny crystals of ice
grass|green|-|It gets brown when it lacks water
blood|red|-|Its colour comes from a substance with iron
coal|black|-|It burns and gives heat
gold|yellow|-|It shines and never rusts
silver|grey and shiny|-|It slowly gets dark in the air
copper|red-brown|-|Old copper roofs turn green
rust|red-brown|-|It forms on wet iron
an emerald|green|-|It is a precious stone
a ruby|red|-|It is a precious stone
a sunflower|yellow|-|Its seeds can be eaten
a crow|black|-|It is a very clever bird
a swan|mostly white|-|Its chicks are grey
a flamingo|pink|-|Its colour comes from its food
a frog|mostly green or brown|-|Its skin is always moist
an elephant|grey|-|It is the largest animal on land
a polar bear|white|-|Under its white fur the skin is black
a zebra|black and white|-|It has stripes
a giant panda|black and white|-|It eats bamboo
a ladybird|mostly red with black dots|-|It eats small insects that harm plants
a fox|mostly red-brown|-|It has a bushy tail with a white tip
a tiger|orange with black stripes|-|No two tigers have the same stripes
a fire engine|mostly red|-|A bright colour can be seen from far away
a stop sign|mostly red|-|It tells drivers to stop
chalk|mostly white|-|It is used to write on a board
ash|grey|-|It is left when wood has burned
a leaf|green in summer|-|In autumn it can turn yellow or red
an egg yolk|yellow|-|It lies in the middle of the egg
Mars|red|-|There is rusty iron in its dust
Neptune|blue|-|It is the planet farthest from the sun
"""

# animal | plural (+ adds an s) | kind | food | home | young or dash | what they do
ANIMALS = """
dog|+|mammal|meat and dog food|with people|puppy|can smell very well and like company
cat|+|mammal|meat, mice and cat food|with people|kitten|sleep for a large part of the day
cow|+|mammal|grass and hay|on farms|calf|give us milk
horse|+|mammal|grass, hay and oats|on farms and in stables|foal|can run fast and carry a rider
donkey|+|mammal|grass and hay|on farms|foal|have long ears and carry heavy loads
pig|+|mammal|roots, fruit, grain and much else|on farms|piglet|are clever and like mud
sheep|sheep|mammal|grass and hay|on farms and in meadows|lamb|give us wool
goat|+|mammal|grass, leaves and twigs|on farms and in mountains|kid|climb very well
rabbit|+|mammal|grass, leaves and carrots|in burrows under meadows|kit|have long ears and hop
hare|+|mammal|grass, leaves and bark|in fields and meadows|leveret|run very fast
hen|+|bird|grain, seeds and insects|on farms|chick|lay eggs
duck|+|bird|water plants, seeds and insects|on lakes and rivers|duckling|swim with webbed feet
goose|geese|bird|grass and seeds|near water and on farms|gosling|fly in the shape of a V
swan|+|bird|water plants|on lakes and rivers|cygnet|have a long neck
turkey|+|bird|seeds, berries and insects|in woods and on farms|poult|can fly short distances
mouse|mice|mammal|seeds, grain and fruit|in fields, woods and houses|pup|have a long thin tail
rat|+|mammal|almost anything|in fields, cities and sewers|pup|are clever and swim well
hamster|+|mammal|seeds, grain and vegetables|in burrows or as pets|pup|carry food in their cheeks
guinea pig|+|mammal|hay, grass and vegetables|with people as pets|pup|like to live in groups
squirrel|+|mammal|nuts, seeds and buds|in trees|kit|hide nuts for the winter
hedgehog|+|mammal|beetles, worms and snails|in gardens and hedges|hoglet|roll up into a ball
mole|+|mammal|earthworms and insects|under the ground|pup|dig long tunnels
fox|foxes|mammal|mice, birds, insects and berries|in woods, fields and cities|cub|are clever hunters
wolf|wolves|mammal|deer and other animals|in forests and mountains|pup|live and hunt in packs
brown bear|+|mammal|berries, fish, roots and honey|in forests and mountains|cub|sleep in winter
polar bear|+|mammal|mostly seals|in the Arctic|cub|swim very well
giant panda|+|mammal|bamboo|in mountain forests of China|cub|eat for many hours a day
lion|+|mammal|zebras, antelopes and other animals|mostly in Africa|cub|live in groups called prides
tiger|+|mammal|deer and wild pigs|in forests of Asia|cub|are the largest of all cats
leopard|+|mammal|antelopes, monkeys and other animals|in Africa and Asia|cub|climb trees well
cheetah|+|mammal|gazelles and hares|mostly in Africa|cub|are the fastest runners on land
elephant|+|mammal|grass, leaves and bark|in Africa and Asia|calf|use their trunk like a hand
rhino|+|mammal|grass and leaves|in Africa and Asia|calf|have one or two horns on the nose
hippo|+|mammal|grass|in and near rivers and lakes of Africa|calf|stay in the water by day
giraffe|+|mammal|leaves of tall trees|in Africa|calf|are the tallest animals
zebra|+|mammal|grass|in Africa|foal|have black and white stripes
camel|+|mammal|grass and dry plants|in deserts|calf|can go for many days without water
llama|+|mammal|grass|in South America|cria|carry loads and spit when they are angry
kangaroo|+|mammal|grass and leaves|in Australia|joey|hop and carry their young in a pouch
koala|+|mammal|eucalyptus leaves|in trees in Australia|joey|sleep for most of the day
gorilla|+|mammal|leaves, stems and fruit|in forests of Africa|infant|live in family groups
chimpanzee|+|mammal|fruit, leaves and insects|in forests of Africa|infant|use simple tools
monkey|+|mammal|fruit, leaves and insects|mostly in warm forests|infant|climb very well
sloth|+|mammal|leaves|in trees in Central and South America|pup|move very slowly
bat|+|mammal|mostly insects or fruit|in caves, trees and roofs|pup|fly at night
deer|deer|mammal|grass, leaves and buds|in forests and meadows|fawn|are shy and listen well
moose|moose|mammal|leaves, twigs and water plants|in cold northern forests|calf|are the largest deer
reindeer|reindeer|mammal|lichen and grass|in the far north|calf|have wide hooves for the snow
beaver|+|mammal|bark, leaves and twigs|in and near rivers|kit|build dams of wood
otter|+|mammal|fish, crabs and frogs|in and near water|pup|swim and dive very well
badger|+|mammal|worms, fruit and roots|in burrows in woods|cub|come out at night
raccoon|+|mammal|fruit, insects, eggs and much else|in North America|kit|have a dark mask
skunk|+|mammal|insects, mice and berries|in America|kit|spray a bad smell at enemies
seal|+|mammal|fish|in the sea and on its coasts|pup|have a thick layer of fat
walrus|walruses|mammal|mostly clams|in the Arctic|calf|have two long tusks
dolphin|+|mammal|fish and squid|in the sea|calf|are clever and live in groups
blue whale|+|mammal|krill, which are tiny shrimps|in the sea|calf|are the largest animals
killer whale|+|mammal|fish, seals and other animals|in the sea|calf|hunt in groups
eagle|+|bird|fish, hares and other animals|in mountains and at lakes|eaglet|have very sharp eyes
owl|+|bird|mostly mice|in woods and barns|owlet|fly almost without a sound
falcon|+|bird|mostly smaller birds|on cliffs and towers|chick|dive very fast
crow|+|bird|seeds, insects, fruit and much else|in fields, woods and cities|chick|are very clever
sparrow|+|bird|seeds and insects|near houses|chick|live in noisy groups
pigeon|+|bird|seeds and grain|in cities and woods|squab|find their way home from far away
swallow|+|bird|flying insects|in barns and under roofs|chick|fly to warm countries in autumn
stork|+|bird|frogs, mice and insects|in wet meadows|chick|build large nests
robin|+|bird|insects, worms and berries|in gardens and woods|chick|have a red breast
woodpecker|+|bird|insects under the bark|in woods|chick|hammer holes into trees
cuckoo|+|bird|caterpillars and insects|in woods and reeds|chick|often lay eggs into other nests
parrot|+|bird|seeds, nuts and fruit|in warm forests|chick|can copy sounds
peacock|+|bird|seeds, insects and berries|in woods and parks|chick|show a fan of feathers
penguin|+|bird|fish, squid and krill|in the south of the earth|chick|swim but cannot fly
ostrich|ostriches|bird|grass, leaves and seeds|in Africa|chick|are the largest birds
flamingo|+|bird|small shrimps and algae|at shallow lakes|chick|often stand on one leg
gull|+|bird|fish, crabs and much else|at the sea and at lakes|chick|are good at gliding
hummingbird|+|bird|nectar and tiny insects|in America|chick|can stand still in the air
frog|+|amphibian|insects, worms and snails|in ponds and wet meadows|tadpole|jump with strong legs
toad|+|amphibian|insects, worms and snails|in gardens and woods|tadpole|have bumpy skin
newt|+|amphibian|insects and worms|in ponds and damp places|-|can grow a lost tail again
crocodile|+|reptile|fish, birds and other animals|in warm rivers|hatchling|wait quietly for prey
snake|+|reptile|mice, frogs, birds and eggs|in many warm places|hatchling|have no legs
lizard|+|reptile|mostly insects|on warm stones and walls|hatchling|can often drop their tail
tortoise|+|reptile|grass, leaves and flowers|on land in warm countries|hatchling|can get very old
sea turtle|+|reptile|jellyfish, sea grass and algae|in warm seas|hatchling|lay eggs on the beach
shark|+|fish|mostly fish|in the sea|pup|can smell blood from far away
salmon|salmon|fish|insects and smaller fish|in the sea and in rivers|-|lay their eggs in rivers
goldfish|goldfish|fish|small water animals and plants|in ponds and tanks|-|can live for many years
eel|+|fish|small animals in the water|in rivers and in the sea|elver|look like snakes
sea horse|+|fish|tiny shrimps|in shallow warm seas|fry|swim upright
octopus|octopuses|mollusc|crabs, clams and snails|in the sea|-|have eight arms and are very clever
snail|+|mollusc|leaves|in gardens and woods|-|carry their house on the back
mussel|+|mollusc|tiny bits that float in the water|in the sea and in rivers|-|hold on to rocks
crab|+|crustacean|algae and small animals|at the coast and in the sea|-|walk sideways
lobster|+|crustacean|fish, crabs and clams|on the sea floor|-|have two strong claws
bee|+|insect|nectar and pollen|in hives and hollow trees|larva|make honey and visit flowers
wasp|+|insect|insects and sweet fruit|in nests that look like paper|larva|can sting more than once
ant|+|insect|insects and seeds|in large nests|larva|carry heavy loads for their size
butterfly|butterflies|insect|nectar|in meadows and gardens|caterpillar|have four colourful wings
fly|flies|insect|sweet juice, waste and rotten things|almost everywhere|maggot|taste with their feet
mosquito|mosquitoes|insect|plant juice|near still water|larva|lay their eggs in water
ladybird|+|insect|mostly tiny plant lice|in gardens and fields|larva|have dots on their backs
dragonfly|dragonflies|insect|mosquitoes and flies|near water|nymph|can fly backwards
grasshopper|+|insect|grass and leaves|in meadows|nymph|make music with legs or wings
spider|+|arachnid|mostly insects|in houses, gardens and woods|spiderling|have eight legs
scorpion|+|arachnid|insects and spiders|mostly in warm, dry places|-|have a sting on the tail
earthworm|+|worm|dead leaves and soil|in the ground|-|make the soil loose and rich
jellyfish|jellyfish|simple sea animal|tiny sea animals|in the sea|-|have no brain and no heart
"""

# thing | its material | why, or what else can be said
MATERIALS = """
a window|glass|Glass lets the light in and keeps the wind out
a bottle|glass or plastic|Both keep liquids in, and both can be recycled
a drinking glass|glass|Glass is clear and easy to clean
a table|mostly wood|Wood is strong and easy to work with
a chair|mostly wood, metal or plastic|All of them can carry a person
a door|mostly wood, metal or glass|It must be firm but easy to move
a pencil|wood and graphite|The graphite in the middle leaves the grey line
a crayon|wax and colour|Wax is soft enough to leave a line
a candle|wax and a wick|The melted wax rises in the wick and burns
a tyre|rubber|Rubber grips the road and softens bumps
a rubber band|rubber|Rubber can be stretched and goes back to its shape
a balloon|thin rubber or foil|It is light and keeps the air in
a brick|clay|The clay is formed and baked until it is hard
a flower pot|mostly clay or plastic|A hole at the bottom lets the water out
a cup|mostly fired clay, called ceramic|Ceramic keeps the tea warm and is easy to clean
a plate|mostly fired clay, called ceramic|Ceramic is hard, but it can break
a spoon|mostly steel or wood|Steel lasts long, and wood does not get hot
a knife|mostly steel|Steel can be made very sharp
a pan|mostly steel, iron or aluminium|Metal carries the heat to the food
a nail|mostly steel|Steel is hard enough to go into wood
a coin|metal|Metal lasts longer than paper
a banknote|cotton paper or plastic|It must be thin but strong
a ring|mostly gold or silver|These metals shine for a long time
a bell|mostly bronze|Bronze is a mix of copper and tin that sounds clear
a wire|mostly copper|Copper carries electricity very well
a can|steel or aluminium|Metal keeps light and air away from the food
a bicycle frame|mostly steel or aluminium|It must be strong and light
a car|mostly steel, aluminium, plastic and glass|It has many thousands of parts
a ship|mostly steel|It is hollow, so it floats
a bridge|mostly steel, stone, wood or concrete|It has to carry heavy loads
a house|mostly brick, wood, stone or concrete|Walls keep out wind, rain and cold
concrete|cement, sand, stones and water|It is poured as a mush and then gets as hard as stone
a road|mostly asphalt or concrete|Asphalt is small stones held together by a black, sticky mass
a pullover|wool, cotton or artificial fibre|Wool keeps warm because it holds much air
a shirt|mostly cotton|Cotton is soft and takes up sweat
a pair of jeans|strong cotton|Jeans were first made as trousers for work
a silk scarf|silk, a thread made by silkworms|Silk is thin, light and smooth
wool|the hair of sheep|The hair is cut off once a year and spun into yarn
leather|the skin of animals|The skin is treated so that it stays soft and lasts long
a shoe|mostly leather, cloth and rubber|The rubber is for the sole
a raincoat|cloth with a layer of plastic|The layer keeps the water out
an umbrella|thin cloth on a frame of metal|The cloth is treated so that rain runs off
a tent|thin, strong cloth and poles|It must be light and keep the rain out
a pillow|cloth filled with feathers or foam|The soft filling holds up the head
a mattress|mostly foam or springs with cloth around|It gives way where the body presses
a rope|twisted fibres, such as hemp or nylon|Many thin fibres together are strong
a book|paper, ink and glue|A cover of card protects the pages
a newspaper|thin paper and ink|Most of the paper was recycled
cardboard|several layers of strong paper|The wavy layer in the middle makes it stiff
a sponge|mostly soft plastic foam|Its many holes take up water
a toothbrush|plastic with nylon bristles|The bristles reach between the teeth
a mirror|glass with a thin layer of metal|The metal throws the light back
a snowman|snow|It melts when it gets warm
an igloo|blocks of snow|Snow holds much air and so keeps the warmth in
an ice cube|frozen water|It melts in a warm drink
a sandcastle|sand and water|Wet sand sticks together, dry sand falls apart
a nest|mostly twigs, grass and feathers|It keeps the eggs warm and safe
a honeycomb|wax|Bees make the wax in their own bodies
a pearl|the same stuff as the inside of a shell|It grows in layers inside a mussel or an oyster
a bone|mostly calcium minerals and strong fibres|This makes it hard but not brittle
a tooth|hard minerals|Its outer layer is the hardest stuff in the body
a feather|the same stuff as our nails|It is light, warm and strong
chocolate milk|milk, cocoa and sugar|It can be drunk hot or cold
flour|ground grain, mostly wheat|Bread, cakes and noodles are made from it
a noodle|flour and water, sometimes with egg|Noodles are cooked in salted water
marmalade|oranges and sugar|Other jams are made from other fruit
ketchup|tomatoes, vinegar, sugar and spices|It is eaten with fried potatoes
tofu|soy beans|It is eaten as food without meat
olive oil|pressed olives|It is good in salads
ice cream|milk, cream and sugar|It is frozen while it is stirred
yogurt|milk|Useful bacteria make it thick and a bit sour
mayonnaise|oil, egg yolk and vinegar|It is beaten until it is thick
"""

# tool | what one uses it for | what else can be said
TOOLS = """
a hammer|drive nails into wood|Watch your fingers when you use it
a saw|cut wood|Its blade has many sharp teeth
a screwdriver|turn screws|Its tip must fit the head of the screw
a drill|make holes|A drill bit turns very fast
a pair of pliers|hold or bend small things|Their long handles give much force
a wrench|turn nuts and bolts|It must have the right size
a file|make metal or wood smooth|It is rubbed over the edge
a ruler|draw straight lines and measure|It has marks for each centimetre
a tape measure|measure long things|It can be rolled up
a spirit level|check whether something is level|A small bubble shows it
a ladder|climb up to high places|It must stand firm on the ground
a spade|dig holes in the ground|You push it in with your foot
a rake|gather leaves|It has a long handle and many teeth
a watering can|water plants|It makes a soft rain for the flowers
a wheelbarrow|carry heavy loads in the garden|It has one wheel and two handles
a lawn mower|cut the grass|Its blade turns fast, so keep your feet away
an axe|split wood|It is heavy and sharp
a broom|sweep the floor|Its bristles gather the dirt
a mop|wipe the floor|It is used with water and soap
a bucket|carry water|It has a handle at the top
a sponge|wipe and wash things|It takes up a lot of water
an iron|make clothes smooth|It gets hot, so never leave it alone
a needle|sew cloth by hand|The thread goes through its small hole
a sewing machine|sew clothes quickly|It moves the needle up and down
a pair of scissors|cut paper and cloth|It has two blades that slide past each other
a knife|cut food|Always cut away from your body
a fork|pick up food|It mostly has four points
a spoon|eat soup|It holds liquids
a peeler|peel vegetables|It takes off only a thin layer
a grater|grate cheese|It has many small sharp holes
a sieve|strain pasta|The water runs through its holes
a whisk|beat cream and eggs|Its wires bring air in
a rolling pin|roll out dough|It is a smooth cylinder, mostly of wood
a corkscrew|open bottles with a cork|It is turned into the cork and pulled out
a tin opener|open tins|It cuts along the edge of the lid
a kettle|boil water|It switches itself off when the water boils
a toaster|toast bread|Hot wires inside make the bread brown
an oven|bake bread and cakes|Its heat comes from all sides
a pot|cook soup|A lid saves energy
a kitchen scale|weigh flour and sugar|It shows the weight in grams
a clock|tell the time|Its hands show hours and minutes
a thermometer|measure the temperature|It shows how warm or cold something is
a torch|see in the dark|It needs a battery
an umbrella|stay dry in the rain|It can be folded up
a comb|tidy your hair|It has many thin teeth
a towel|dry yourself|It takes up water well
a toothbrush|clean your teeth|Use it twice a day
a pair of glasses|see clearly|Their lenses bend the light
a magnifying glass|see small things larger|It is a lens with a handle
a telescope|look at the stars|It gathers a lot of light
a pair of binoculars|see things that are far away|It has one tube for each eye
a camera|take photos|Its lens makes a sharp picture
a pen|write with ink|Its tip leaves a fine line
an eraser|remove pencil marks|It picks up the graphite
a stapler|join sheets of paper|It presses a small wire through them
a calculator|work out sums|It is fast and does not get tired
a printer|put text on paper|It needs ink or toner
a scanner|turn a sheet of paper into a file|It takes a picture of the page
a headset|listen and speak at a computer|It has a microphone
a microphone|record sounds|It turns sound into electric signals
a loudspeaker|play music aloud|It turns electric signals into sound
an anchor|hold a ship in place|It digs into the sea floor
an oar|row a boat|You pull it through the water
a helmet|protect your head|It should sit firmly
a parachute|fall slowly from a plane|It catches the air
a fishing rod|catch fish|It has a line with a hook
a whistle|give a loud signal|You blow into it
a fire extinguisher|put out a small fire|It must be checked regularly
"""

# job | what the person does | what else can be said
JOBS = """
baker|bakes bread, rolls and cakes|The work starts very early in the morning
cook|prepares meals in a kitchen|Good cooks taste what they make
waiter|brings food and drinks to guests|A good memory helps in this job
butcher|cuts and sells meat|Butchers make sausages as well
farmer|grows food and keeps animals|The work depends much on the weather
gardener|looks after plants and gardens|Much of the work is done outdoors
florist|sells flowers and ties bouquets|Florists know which flowers go together
fisher|catches fish|Fishers often go out before the sun rises
forester|looks after a forest|Foresters plant trees and watch the animals
beekeeper|keeps bees and harvests honey|A suit protects the beekeeper from stings
vet|treats sick animals|The patients cannot say where it hurts
doctor|helps people who are ill|Doctors examine, advise and treat their patients
nurse|cares for sick people|Nurses work by day and by night
dentist|treats teeth|A check twice a year is a good idea
surgeon|operates on people|A steady hand is important
pharmacist|sells medicine and explains how to use it|Pharmacists know much about chemistry
midwife|helps mothers when a baby is born|Midwives look after the baby as well
teacher|teaches children at school|Good teachers explain things with patience
professor|teaches and does research at a university|Professors also write books and papers
librarian|looks after the books of a library|Librarians help people to find what they need
firefighter|puts out fires and rescues people|Firefighters always work as a team
police officer|keeps order and looks into crimes|Police officers also help after accidents
judge|decides cases in court|A judge must be fair to both sides
lawyer|advises people about the law|Lawyers also speak for people in court
soldier|serves in an army|Soldiers wear a uniform
pilot|flies a plane|Pilots train for a long time
astronaut|flies into space|Astronauts do experiments there
sailor|works on a ship|Sailors are often away for weeks
captain|leads a ship and its crew|The captain decides where to go
bus driver|drives a bus|Bus drivers follow a fixed route and timetable
train driver|drives a train|Signals show whether the way is free
taxi driver|takes people where they want to go|Taxi drivers know their city well
mechanic|repairs cars and other machines|Mechanics need clever hands
electrician|puts in and repairs electric wires|The power must be off during the work
plumber|puts in and repairs water pipes|A plumber is needed when the sink leaks
carpenter|builds things from wood|Carpenters make roofs, stairs and furniture
bricklayer|builds walls from bricks|The bricks are held together with mortar
painter|paints walls and houses|There are painters who make pictures too
roofer|builds and repairs roofs|It helps not to be afraid of heights
architect|draws the plans for buildings|Architects think of beauty, use and safety
engineer|plans machines, bridges or other technical things|Engineers use maths and physics
tailor|makes and alters clothes|A tailor takes the measure first
shoemaker|makes and repairs shoes|Shoemakers work mostly with leather
hairdresser|cuts and styles hair|Hairdressers also dye hair
watchmaker|makes and repairs watches|The parts are often tiny
jeweller|makes and sells jewellery|Jewellers work with gold, silver and stones
optician|makes and fits glasses|Opticians also test how well people see
cleaner|cleans rooms and buildings|Clean rooms keep people healthy
refuse collector|takes the rubbish away|Without this job our streets would soon be dirty
postal worker|delivers letters and parcels|The round is done in any weather
shop assistant|sells things in a shop|Shop assistants advise the customers
cashier|takes the money in a shop|The cashier gives back the change
accountant|keeps the books of a company|Accountants work with numbers
secretary|writes letters and arranges meetings|Secretaries keep an office in order
journalist|finds out news and writes about it|Good journalists check their facts
author|writes books|Some books take years to write
translator|turns a text into another language|Translators know both languages very well
photographer|takes pictures for others|Good light is important in this job
actor|plays roles on stage or in films|Actors learn their lines by heart
musician|plays an instrument or sings|Musicians practise every day
composer|writes music|Composers write it down in notes
dancer|dances on a stage|Dancers train their bodies every day
sculptor|makes figures from stone, clay or metal|A large figure can take months
programmer|writes computer programs|Programmers also look for bugs
scientist|finds out how the world works|Scientists test ideas with experiments
astronomer|studies stars and planets|Astronomers use large telescopes
geologist|studies rocks and the ground|Geologists also study volcanoes
biologist|studies living things|Biologists work outdoors or in a lab
historian|studies the past|Historians read old letters and books
archaeologist|digs up and studies old things|The work needs a lot of patience
weather forecaster|predicts the weather|Weather forecasters work with data and computers
lifeguard|watches over swimmers|Lifeguards must swim very well
trainer|helps athletes to get better|Trainers plan the exercises
referee|makes sure that players keep the rules|The referee uses a whistle
tour guide|shows visitors around a place|Tour guides know many stories
miner|digs coal or metals out of the ground|Miners often work deep below the surface
"""

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
PLANETS = ("Mercury", "Venus", "Earth", "Mars", "Jupiter", "Saturn", "Uranus", "Neptune")
ORDER = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
    "eleventh", "twelfth",
)  # fmt: skip
KINDS = {
    "mammal": "mammals", "bird": "birds", "fish": "fish", "reptile": "reptiles",
    "insect": "insects", "amphibian": "amphibians",
}  # fmt: skip
LEGS = {"bird": "two", "insect": "six", "arachnid": "eight", "amphibian": "four"}
NOT_ON_FOUR_LEGS = (
    "kangaroo", "gorilla", "chimpanzee", "monkey", "bat", "seal", "walrus", "dolphin", "sloth",
    "blue whale", "killer whale",
)  # fmt: skip


# Words in the names of the tables' topics that people ask for first.
WELL_KNOWN = set(
    """
    France Paris Germany Berlin Italy Rome Spain Madrid Portugal Kingdom London Ireland Greece
    Sweden Norway Switzerland Austria Vienna Poland Russia Moscow Turkey Egypt Cairo China
    Beijing Japan Tokyo Korea India Canada States Washington Mexico Brazil Argentina Australia
    Netherlands Kenya Amsterdam Denmark Finland dogs dog cats cat horses horse cows cow bees bee
    birds bird lions lion tigers tiger elephants elephant bears bear rabbits rabbit spiders
    spider fish sharks shark whales whale dolphins dolphin penguins penguin pandas panda owls
    owl frogs frog snakes snake mice mouse sheep pigs pig ducks duck butterflies butterfly ants
    ant giraffes giraffe monkeys monkey wolf wolves
    """.split()  # noqa: SIM905 (a list would be four times as long)
)


def rows(table: str) -> list[list[str]]:
    """The fields of each line of a table."""
    return [line.split("|") for line in table.strip().splitlines()]


def topic(name: str, asked: str, reserved: str, *answers: str) -> Topic:
    """A topic whose wordings stand one a line in `asked` and in `reserved`."""
    return Topic(name, tuple(_lines(asked)), tuple(_lines(reserved)), answers)


def noun(name: str) -> str:
    """`name` without its article, as one types it into a search box."""
    return re.sub(r"^(an?|the) ", "", name)


def _lines(text: str) -> list[str]:
    return [sentence(line.strip()) for line in text.strip().splitlines()]


# How begins what is so of one country only.
TELLING = (
    "is known", "is called", "is also called", "is the largest", "has the", "has a famous",
    "has a cedar", "has a maple", "was called", "has fifty", "has more", "has its largest",
    "shares", "consists", "is the home", "is very long",
)  # fmt: skip


def capital_claims(name: str, capital: str) -> list[Topic]:
    """Whether a city is the capital of a country: its own, and one that a stable rule picks."""
    lands = [row for row in rows(COUNTRIES) if row[0] != name and row[1] not in name]
    land, city, *_ = lands[crc32(f"capital {name}".encode()) % len(lands)]
    made = []
    for one, answer in (
        (capital, f"Yes, {capital} is the capital of {name}."),
        (city, f"No, the capital of {name} is {capital}. {city} is the capital of {land}."),
    ):
        made.append(topic(
            f"whether {one} is the capital of {name}",
            f"""Is {one} the capital of {name}?
            Is the capital of {name} {one}?
            {one} is the capital of {name}, right?
            My friend says that {one} is the capital of {name}. Is that so?
            Does {name} have {one} as its capital?
            Capital of {noun(name)}: {one}?
            I think {one} is the capital of {name}. Am I right?
            {name} has the capital {one}, true or false?""",
            f"""Would it be right to say that {one} is the capital of {name}?
            Can you confirm that {one} is the capital of {name}?""",
            answer,
        ))  # fmt: skip
    return made


def country_topics() -> list[Topic]:
    made = []
    facts = Counter(row[3] for row in rows(COUNTRIES))
    for name, capital, where, fact in rows(COUNTRIES):
        made.append(topic(
            f"capital of {name}",
            f"""What is the capital of {name}?
            What's the capital of {name}?
            Capital of {name}
            Which city is the capital of {name}?
            Tell me the capital of {name}.
            Name the capital of {name}.
            Do you know the capital of {name}?
            The capital of {name}?
            What is the capital city of {name}?
            {name}: what is its capital?
            {noun(name)} capital
            Capital city, {noun(name)}
            I forgot the capital of {name}.
            My son has to know the capital of {name}.
            I am going to {name}. Which city is the capital there?
            Which city does {name} have as its capital?
            What do you call the capital of {name}?
            In {name}, which city is the capital?
            Say the capital of {name}.
            What city is {name}'s capital?
            {name} has which capital?""",
            f"""Which capital does {name} have?
            What is the name of the capital of {name}?""",
            f"The capital of {name} is {capital}.",
            f"The capital of {name} is {capital}. {sentence(name)} {fact}.",
        ))  # fmt: skip
        made.append(topic(
            f"country of {capital}",
            f"""{capital} is the capital of which country?
            Of which country is {capital} the capital?
            Which country has the capital {capital}?
            In which country is {capital}?
            Where is {capital}?
            What is {capital}?
            {capital} belongs to which country?
            What country is {capital} in?
            Whose capital is {capital}?
            Which country's capital is {capital}?
            {capital}, where is that?
            {capital} country
            I am flying to {capital}. Which country is that?
            My friend lives in {capital}. Where is it?
            What is the country with the capital {capital}?
            What land does {capital} belong to?
            If the capital is {capital}, what is the country?
            The city of {capital} lies where?""",
            f"""In what country does {capital} lie?
            Which country is {capital} the capital of?""",
            f"{capital} is the capital of {name}. {sentence(name)} {fact}.",
            f"{capital} is the capital of {name}.",
        ))  # fmt: skip
        made += capital_claims(name, capital)
        if facts[fact] == 1 and fact.startswith(TELLING):
            made.append(topic(
                f"known of {name}",
                f"""Which country {fact}?
                What country {fact}?
                Name the country that {fact}.
                It {fact}. Which country is it?
                Guess the country: it {fact}.
                I am thinking of a country that {fact}.
                My teacher asked which country {fact}.
                There is a country that {fact}. What is its name?""",
                f"""Do you know which country {fact}?
                Of which country can one say that it {fact}?""",
                f"{sentence(name)} {fact}. Its capital is {capital}.",
                f"{sentence(name)} {fact}.",
            ))  # fmt: skip
        made.append(topic(
            f"place of {name}",
            f"""Where is {name}?
            Where does {name} lie?
            On which continent is {name}?
            Which continent is {name} in?
            In which part of the world is {name}?
            Where can I find {name} on the map?
            {noun(name)} continent
            Location of {noun(name)}
            {name}, where is it?
            What continent is {name} part of?
            {name} lies on which continent?
            Where in the world is {name}?
            I can't find {name} on the map. Where must I look?
            We want to travel to {name}. Where is that?
            My son asks where {name} is.
            Is {name} in Europe or somewhere else?""",
            f"""To which continent does {name} belong?
            In what part of the world does {name} lie?""",
            f"{sentence(name)} is in {where}. It {fact}.",
        ))  # fmt: skip
        made.append(topic(
            f"about {name}",
            f"""Tell me about {name}.
            What do you know about {name}?
            What is {name}?
            What is {name} known for?
            Tell me something about {name}.
            Say a few words about {name}.
            {name}?
            What should I know about {name}?
            What is special about {name}?
            What is {name} famous for?
            Give me some facts about {name}.
            {noun(name)} facts
            {name} in a few words
            I know nothing about {name}. Help me.
            What kind of country is {name}?
            My class learns about {name}. What can I say?
            What is there to say about {name}?
            What comes to your mind about {name}?""",
            f"""Describe {name}.
            What can you tell me about {name}?""",
            f"{sentence(name)} is a country in {where}. Its capital is {capital}. "
            f"{sentence(name)} {fact}.",
        ))  # fmt: skip
    return made


def _taste_of(taste: str) -> str:
    return taste.removeprefix("very ")


def thing_topics() -> list[Topic]:
    made = []
    for name, colour, taste, note in rows(THINGS):
        made.append(topic(
            f"colour of {name}",
            f"""What colour is {name}?
            What color is {name}?
            Which colour does {name} have?
            Which color does {name} have?
            What is the colour of {name}?
            What is the color of {name}?
            Colour of {name}
            Tell me the colour of {name}.
            Do you know the colour of {name}?
            {noun(name)} colour
            {noun(name)} color
            How is {name} coloured?
            What colour does {name} have?
            Which crayon do I need for {name}?
            I want to draw {name}. What colour do I take?
            My kid paints {name}. Which paint is right?
            {name}: red, green or what?
            What does {name} look like, what colour?
            In which colour would you paint {name}?""",
            f"""Which colour is {name}?
            Can you tell me the colour of {name}?""",
            f"{sentence(name)} is {colour}. {note}.",
            f"The colour of {name} is {colour}." if "and shiny" not in colour else
            f"{sentence(name)} is {colour}.",
        ))  # fmt: skip
        if taste != "-":
            made.append(topic(
                f"taste of {name}",
                f"""What does {name} taste like?
                How does {name} taste?
                What is the taste of {name}?
                Which taste does {name} have?
                Tell me how {name} tastes.
                Taste of {name}
                Do you know how {name} tastes?
                {noun(name)} taste
                Is {name} sweet or sour?
                Does {name} taste sweet, sour, bitter or salty?
                What kind of taste has {name}?
                I have never tried {name}. What is it like?
                How would you describe the taste of {name}?
                My kid asks how {name} tastes.
                If I try {name}, what will I taste?
                {name}: how is it on the tongue?
                What taste can I expect from {name}?""",
                f"""Can you tell me how {name} tastes?
                What is it like to taste {name}?""",
                f"{sentence(name)} tastes {taste}. {note}.",
                f"{sentence(name)} tastes {taste}.",
            ))  # fmt: skip
    for which, word in (("colour", 1), ("taste", 2)):
        found: dict[str, list[str]] = {}
        for row in rows(THINGS):
            found.setdefault(_taste_of(row[word]), []).append(row[0])
        for key, names in found.items():
            if len(names) < 3 or " " in key or key == "-":
                continue
            lists = [listed(names[i : i + 3]) for i in range(len(names) - 2)]
            verb, called = ("are", key) if which == "colour" else ("taste", f"that tastes {key}")
            made.append(topic(
                f"{which} {key}",
                f"""What is {key}?
                Which things are {key}?
                Name some {key} things.
                Name something {key}.
                Tell me something that is {key}.
                {key} things
                What has the colour {key}?
                What comes in {key}?
                I need something {key}. What could I take?
                My daughter collects {key} things. Which ones are there?
                Where do I find the colour {key}?
                Think of {key} things. What comes to your mind?
                I see something {key}. What could it be?"""
                if which == "colour" else
                f"""What tastes {key}?
                Which things taste {key}?
                Name something {called}.
                Name some things that taste {key}.
                Tell me something {called}.
                {key} food
                I feel like something {key}. What is there?
                What food has {a(key)} taste?
                What can I eat that tastes {key}?
                My son loves {key} things. What can he eat?
                Is there something that tastes {key}?
                I like it {key}. What should I try?
                Think of something to eat with {a(key)} taste.""",
                f"""What things are {key}?
                Give me three {key} things."""
                if which == "colour" else
                f"""Which food is {key}?
                Give me three things that taste {key}.""",
                *(f"{sentence(three)} {verb} {key}." for three in lists),
            ))  # fmt: skip
    return made


def animals() -> list[list[str]]:
    """The rows of the animals with their plurals written out."""
    return [[one, one + "s" if many == "+" else many, *rest] for one, many, *rest in rows(ANIMALS)]


def animal_topics() -> list[Topic]:
    made = []
    common = Counter(row[6] for row in animals())
    youngs: dict[str, list[str]] = {}
    for one, many, kind, food, home, young, fact in animals():
        plural = KINDS.get(kind, kind + "s")
        made.append(topic(
            f"food of {many}",
            f"""What do {many} eat?
            What does {a(one)} eat?
            What do {many} feed on?
            What is the food of {many}?
            Tell me what {many} eat.
            What can {a(one)} eat?
            Food of {many}
            Do you know what {many} eat?
            {one} food
            {one} diet
            What do I feed {a(one)}?
            What is on the menu of {many}?
            {many}, what do they eat?
            How do {many} feed themselves?
            On what do {many} feed?
            What does the diet of {many} consist of?
            What do {many} have for dinner?
            What is {a(one)} looking for when it is hungry?
            My daughter asks what {many} like to eat.""",
            f"""What does {a(one)} live on?
            Which food do {many} eat?""",
            f"{sentence(many)} eat {food}. They live {home}.",
            f"{sentence(many)} eat {food}.",
        ))  # fmt: skip
        made.append(topic(
            f"home of {many}",
            f"""Where do {many} live?
            Where does {a(one)} live?
            Where can I find {many}?
            Where are {many} found?
            Tell me where {many} live.
            What is the home of {many}?
            Do you know where {many} live?
            {one} habitat
            Habitat of {many}
            I want to see {many}. Where do I have to go?
            Where would I meet {a(one)}?
            {many}, where do they live?
            Where do I have to look for {many}?
            What place do {many} call home?
            Where can one see {many}?
            My son wants to know where {many} live.
            Where in nature are there {many}?""",
            f"""In which places do {many} live?
            Where is {a(one)} at home?""",
            f"{sentence(many)} live {home}. They {fact}.",
            f"{sentence(many)} live {home}.",
        ))  # fmt: skip
        made.append(topic(
            f"about {many}",
            f"""What is {a(one)}?
            What are {many}?
            Tell me about {many}.
            Tell me something about {many}.
            Explain what {a(one)} is.
            What do you know about {many}?
            What kind of animal is {a(one)}?
            What sort of animals are {many}?
            {many}?
            {one} facts
            Give me some facts about {many}.
            What should I know about {many}?
            What is special about {many}?
            I have never seen {a(one)}. What is it?
            My child must give a talk about {many}.
            {many}, a few facts please
            How do {many} live?
            What sort of creature is {a(one)}?
            We learn about {many} at school. What can I say?""",
            f"""Describe {a(one)}.
            What can you tell me about {many}?""",
            f"{sentence(a(one))} is {a(kind)}. {sentence(many)} live {home} and eat {food}. "
            f"They {fact}.",
        ))  # fmt: skip
        if common[fact] == 1:
            made.append(topic(
                f"animals that {fact}",
                f"""Which animals {fact}?
                What animals {fact}?
                Name animals that {fact}.
                Tell me which animals {fact}.
                Animals that {fact}
                Do you know animals that {fact}?
                Are there animals that {fact}?
                My son asks which animals {fact}.
                They {fact}. Which animals are they?
                Guess the animals: they {fact}.
                What sort of animals {fact}?
                I saw on TV that some animals {fact}. Which ones?""",
                f"""What are animals called that {fact}?
                I am thinking of animals that {fact}.""",
                f"{sentence(many)} {fact}. They are {plural} and live {home}.",
            ))  # fmt: skip
        if young != "-":
            made.append(topic(
                f"young of {many}",
                f"""What is a baby {one} called?
                What do you call a baby {one}?
                What is a young {one} called?
                What do you call a young {one}?
                What is the young of {a(one)} called?
                Name of a baby {one}
                What are baby {many} called?
                Baby {one} name
                Word for a baby {one}
                Is there a word for a baby {one}?
                What is the word for a young {one}?
                We saw a very small {one}. What is such a little one called?
                The little ones of {many}, how are they called?
                How do you call the young of {a(one)}?
                When {a(one)} has a baby, what is it called?""",
                f"""What is the name for a baby {one}?
                What does one call a young {one}?""",
                f"A baby {one} is called {a(young)}.",
            ))  # fmt: skip
            youngs.setdefault(young, []).append(one)
        legs = LEGS.get(kind, "four" if kind == "mammal" and one not in NOT_ON_FOUR_LEGS else "")
        if legs:
            made.append(topic(
                f"legs of {many}",
                f"""How many legs does {a(one)} have?
                How many legs do {many} have?
                Number of legs of {a(one)}
                Tell me how many legs {a(one)} has.
                {one} legs
                On how many legs does {a(one)} walk?
                Does {a(one)} have two, four, six or eight legs?
                My kid draws {a(one)}. How many legs must it have?
                If I draw {a(one)}, how many legs do I draw?
                Count the legs of {a(one)}.
                The legs of {a(one)}, how many are there?""",
                f"""How many legs has {a(one)}?
                What is the number of legs of {a(one)}?""",
                f"{sentence(a(one))} has {legs} legs. It is {a(kind)}.",
            ))  # fmt: skip
    return made + young_topics(youngs)


def young_topics(youngs: dict[str, list[str]]) -> list[Topic]:
    """From the word for a young animal to the animal, by the animals of each word."""
    made = []
    for young, ones in youngs.items():
        if young in ("pup", "infant", "fry"):  # more often of others than of those of the table
            continue
        old = listed(ones[:3]).replace(" and ", " or ")
        made.append(topic(
            f"what grows from {a(young)} {' '.join(ones[:3])}",
            f"""Which animal has a baby called {a(young)}?
            {a(young)} is the baby of which animal?
            What animal does {a(young)} grow into?
            {a(young)} becomes what when it is big?
            Whose baby is {a(young)}?
            If the baby is called {a(young)}, what is the mother?
            {a(young)}, from which animal is it?
            {young}: baby of which animal?""",
            f"""Of which animal is {a(young)} the young one?
            What will {a(young)} be one day?""",
            f"{sentence(a(young))} is a young {old}"
            f"{', for example' if len(ones) > 3 else ''}.",
        ))  # fmt: skip
    return made


def kind_topics() -> list[Topic]:
    """Whether an animal is of a kind: its own kind, and some others that a stable rule picks."""
    made = []
    for one, many, kind, *_ in animals():
        for other, others in KINDS.items():
            if kind != other and crc32(f"{one} {other}".encode()) % 3:
                continue
            made.append(topic(
                f"{one} {other}",
                f"""Is {a(one)} {a(other)}?
                Are {many} {others}?
                Does {a(one)} belong to the {others}?
                Would you call {a(one)} {a(other)}?
                Does {a(one)} count as {a(other)}?
                {a(one)} is {a(other)}, right?
                I say that {a(one)} is {a(other)}. Am I right?
                My brother says that {many} are {others}. Is he right?
                {one}: {other} or not?
                Can one call {many} {others}?""",
                f"""Do {many} belong to the {others}?
                Is it true that {a(one)} is {a(other)}?""",
                f"Yes, {a(one)} is {a(other)}." if kind == other else
                f"No, {a(one)} is not {a(other)}. It is {a(kind)}.",
            ))  # fmt: skip
    return made


def material_topics() -> list[Topic]:
    made = []
    made_of: dict[str, list[tuple[str, str, str]]] = {}
    for name, material, note in rows(MATERIALS):
        mostly = "mostly " if material.startswith("mostly ") else ""
        of = material.removeprefix("mostly ")
        made.append(topic(
            f"material of {name}",
            f"""What is {name} made of?
            What is {name} made from?
            Which material is {name} made of?
            Tell me what {name} is made of.
            What do I need to make {name}?
            Do you know what {name} is made of?
            Which materials are in {name}?
            Can you tell me what {name} is made of?
            Material of {noun(name)}
            Which stuff is {name} made of?
            {name}: made of what?
            What does {name} consist of?
            What is the material of {name}?
            I want to make {name}. What material do I need?
            From which stuff do people make {name}?
            My child asks what {name} is made from.
            What do you take in order to make {name}?
            How do they make {name}, out of which material?""",
            f"""Out of what is {name} made?
            What is used to make {name}?""",
            f"{sentence(name)} is {mostly}made of {of}. {note}.",
            f"{sentence(name)} is {mostly}made of {of}.",
        ))  # fmt: skip
        made_of.setdefault(of, []).append((name, mostly, note))
    for of, found in made_of.items():
        names = [name for name, *_ in found[:3]]
        name, mostly, note = found[0]
        made.append(topic(
            f"made of {of}",
            f"""What is made of {of}?
            Which thing is made of {of}?
            Name something that is made of {of}.
            Which things consist of {of}?
            {of}: what is made of it?
            Give me an example of a thing that is made of {of}.
            I need something that is made of {of}. What could I take?
            It is made of {of}. What could it be?""",
            f"""Can you name a thing that consists of {of}?
            For what does one use {of}?""",
            f"{sentence(name)} is {mostly}made of {of}. {note}." if len(names) == 1 else
            f"{sentence(listed(names))} are {'mostly ' if any(m for _, m, _ in found) else ''}"
            f"made of {of}.",
        ))  # fmt: skip
    return made


def tool_topics() -> list[Topic]:
    made = []
    for name, use, note in rows(TOOLS):
        made.append(topic(
            f"use of {name}",
            f"""What is {name} for?
            What is {name} used for?
            What do I use {name} for?
            What do you do with {name}?
            What can I do with {name}?
            What is the use of {name}?
            What is {name}?
            Explain what {name} is for.
            Tell me what {name} is for.
            {noun(name)} use
            {name}, what is it good for?
            What is {name} good for?
            What is the purpose of {name}?
            I found {name}. What can I do with it?
            Why do people have {name}?
            Why would I need {name}?
            When do people use {name}?
            What does {name} help with?
            My kid asks what {name} is good for.
            In what way is {name} useful?""",
            f"""What does one need {name} for?
            For what is {name} used?""",
            f"{sentence(name)} is used to {use}. {note}.",
            f"You use {name} to {use}. {note}.",
        ))  # fmt: skip
        mine = use.replace("your", "my")
        made.append(topic(
            f"tool to {use}",
            f"""What do I use to {mine}?
            What do I need to {mine}?
            Which tool do I need to {mine}?
            What can I use to {mine}?
            I want to {mine}. What do I need?
            Which thing is used to {mine}?
            What is used to {mine}?
            Tool to {mine}
            How can I {mine}?
            With what can I {mine}?
            I have to {mine}. What would help me?
            I want something to {mine}. What should I buy?
            What helps me to {mine}?
            What do I need in order to {mine}?
            Is there a thing that helps to {mine}?
            What do I take when I want to {mine}?
            What is the thing called with which I can {mine}?""",
            f"""Which tool is good to {mine}?
            I would like to {mine}. What should I take?""",
            f"To {use}, you need {name}. {note}.",
            f"{sentence(name)} is used to {use}. {note}.",
        ))  # fmt: skip
    return made


def job_topics() -> list[Topic]:
    made = []
    for name, does, note in rows(JOBS):
        made.append(topic(
            f"work of {name}",
            f"""What does {a(name)} do?
            What is {a(name)}?
            What is the job of {a(name)}?
            What does {a(name)} do at work?
            Explain what {a(name)} does.
            Tell me what {a(name)} does.
            What do {name}s do?
            Tell me about the job of {a(name)}.
            {a(name)}?
            {name} job description
            {name}: what kind of job is it?
            My uncle is {a(name)}. What does he do?
            My daughter wants to be {a(name)}. What would she do?
            What is {a(name)} paid for?
            What work does {a(name)} have?
            If I became {a(name)}, what would my work be?
            What is {a(name)} there for?
            How does {a(name)} spend the working day?
            What do you do as {a(name)}?
            I met {a(name)}. What does such a person do?""",
            f"""What is the work of {a(name)}?
            Describe the job of {a(name)}.""",
            f"{sentence(a(name))} {does}. {note}.",
            f"{sentence(a(name))} is a person who {does}. {note}.",
        ))  # fmt: skip
        made.append(topic(
            f"who {does}",
            f"""Who {does}?
            What do you call a person who {does}?
            What do you call somebody who {does}?
            What is a person called who {does}?
            Which job has a person who {does}?
            Whose job is it when somebody {does}?
            My neighbour {does}. What is her job?
            Somebody {does}. What job is that?
            Word for somebody who {does}
            What is the word for a person who {does}?
            {does}: which job is that?
            How do you call somebody who {does}?
            There are people whose job it is: such a person {does}. Who is that?
            In a quiz they asked who {does}.
            I forgot the name of the job. The person {does}.""",
            f"""Name the job of a person who {does}.
            What would you call somebody who {does}?""",
            f"A person who {does} is called {a(name)}. {note}.",
            f"{sentence(a(name))} {does}. {note}.",
        ))  # fmt: skip
    return made


def calendar_topics() -> list[Topic]:
    made = []
    for kind, names, big in (("day", DAYS, "week"), ("month", MONTHS, "year")):
        for i, name in enumerate(names):
            before, after = names[i - 1], names[(i + 1) % len(names)]
            nth, last = ORDER[(i + 1) % len(names)], ORDER[(i - 1) % len(names)]
            made.append(topic(
                f"after {name}",
                f"""Which {kind} comes after {name}?
                What {kind} comes after {name}?
                Which {kind} follows {name}?
                Tell me the {kind} after {name}.
                {kind} after {name}
                {name}, and then?
                {name} is over. Which {kind} begins now?
                Which {kind} do we have once {name} is over?
                If this {kind} is {name}, which one is next?
                What do we have after {name}?
                My son forgot which {kind} comes after {name}.
                {name} is followed by which {kind}?""",
                f"""What is the next {kind} after {name}?
                What follows {name}?""",
                f"After {name} comes {after}, the {nth} {kind} of the {big}.",
            ))  # fmt: skip
            made.append(topic(
                f"before {name}",
                f"""Which {kind} comes before {name}?
                What {kind} comes before {name}?
                Which {kind} is before {name}?
                Tell me the {kind} before {name}.
                {kind} before {name}
                If this {kind} is {name}, which one did we have before?
                Now it is {name}. Which {kind} is over?
                Once this {kind} ends, {name} begins. Which one is it?
                Right before {name} there is which {kind}?
                Go one {kind} back from {name}.
                My son forgot which {kind} comes before {name}.
                {name} follows which {kind}?""",
                f"""What is the {kind} before {name}?
                After which {kind} comes {name}?""",
                f"Before {name} comes {before}, the {last} {kind} of the {big}.",
            ))  # fmt: skip
    for i, name in enumerate(MONTHS):
        days = 30 if name in ("April", "June", "September", "November") else 31
        made.append(topic(
            f"days in {name}",
            f"""How many days does {name} have?
            How many days are in {name}?
            How long is {name}?
            Number of days in {name}
            Tell me how many days {name} has.
            {name} days
            {name}: 30 or 31 days?
            Does {name} have 30 or 31 days?
            {name} has how many days?
            On which date does {name} end?
            Is {name} a long or a short month?
            How many days long is {name}?
            My rent is for {name}. How many days is that?""",
            f"""How many days are there in {name}?
            What is the number of days in {name}?""",
            f"{name} has {days} days." if i != 1 else
            "February has 28 days. In a leap year it has 29 days.",
        ))  # fmt: skip
        made.append(topic(
            f"place of {name}",
            f"""Which month is the {ORDER[i]} of the year?
            Which month is the {ORDER[i]}?
            What is the {ORDER[i]} month?
            What is the {ORDER[i]} month of the year?
            Name the {ORDER[i]} month.
            Which number does {name} have among the months?
            Which month of the year is {name}?
            {name} month number
            Month number {i + 1}
            What is month number {i + 1}?
            How is the {ORDER[i]} month called?
            Which month has the number {i + 1}?
            In a date I read {i + 1} for the month. Which month is it?
            Where in the year does {name} come?
            Counting from January, which place has {name}?""",
            f"""What is the name of the {ORDER[i]} month?
            Tell me the {ORDER[i]} month of the year.""",
            f"{name} is the {ORDER[i]} month of the year.",
        ))  # fmt: skip
    for i, name in enumerate(PLANETS):
        made.append(topic(
            f"planet {name}",
            f"""Which planet is the {ORDER[i]} from the sun?
            What is the {ORDER[i]} planet from the sun?
            What is the {ORDER[i]} planet?
            Name the {ORDER[i]} planet from the sun.
            Where in the order of the planets is {name}?
            Planet number {i + 1}
            Which planet has the number {i + 1}?
            {name} is which planet from the sun?
            Counting from the sun, which planet is number {i + 1}?
            What place does {name} have among the planets?
            Starting at the sun, where does {name} come?
            Position of {name} in the solar system
            How is the {ORDER[i]} planet called?""",
            f"""Which planet comes {ORDER[i]} when one starts at the sun?
            What is the name of the {ORDER[i]} planet from the sun?""",
            f"{name} is the {ORDER[i]} planet from the sun.",
        ))  # fmt: skip
    return made


def topics() -> list[Topic]:
    """The hand-written topics of all files."""
    return [t for path in sorted(ANSWERS.glob("facts_*.txt")) for t in read_topics(path)]


def known(name: str) -> float:
    """The weight of a table's topic: more for what everybody knows, less for what few ask."""
    rarer = 0.4 if name.startswith(("whether ", "known of ", "what grows ")) else 1.0
    return rarer * (12.0 if any(word in WELL_KNOWN for word in name.split()) else 1.0)


@cache
def tables() -> tuple[tuple[list[Topic], float], ...]:
    """The topics of each table with the table's share. A wording that a hand-written topic, a
    definition or an earlier row has already is left out, so that no wording has two answers."""
    taken = {bare(w) for t in topics() for w in (*t.questions, *t.reserved)}
    taken |= definitions.wordings()
    made = (
        (country_topics(), 0.3), (animal_topics(), 0.25), (thing_topics(), 0.13),
        (material_topics(), 0.07), (tool_topics(), 0.09), (job_topics(), 0.09),
        (calendar_topics(), 0.04), (kind_topics(), 0.03),
    )  # fmt: skip
    kept: list[tuple[list[Topic], float]] = []
    for table, share in made:
        left = []
        for t in table:
            asked = (t.questions, t.reserved)
            free = [tuple(w for w in wordings if bare(w) not in taken) for wordings in asked]
            taken.update(bare(w) for ws in free for w in ws)
            if all(free):
                left.append(Topic(t.name, free[0], free[1], t.answers, known(t.name)))
        kept.append((left, share))
    return tuple(kept)


@cache
def _hand_written() -> tuple[Topic, ...]:
    return tuple(topics())


@cache
def _by_name() -> dict[str, Topic]:
    return {t.name: t for table, _ in tables()[:2] for t in table}


@cache
def _groups() -> tuple[tuple[str, tuple[str, ...], str], ...]:
    """Things of which one can ask for some: what they are, their names, how the answer begins."""
    made: list[tuple[str, tuple[str, ...], str]] = []
    lands = rows(COUNTRIES)
    for where in ("Europe", "Africa", "Asia", "North America", "South America"):
        names = tuple(row[0] for row in lands if row[2] == where)
        made.append((f"countries in {where}", names, f"countries in {where}"))
    for kind, plural in KINDS.items():
        made.append((plural, tuple(f"the {r[0]}" for r in animals() if r[2] == kind), plural))
    homes = Counter(row[4] for row in animals())
    for home in sorted(h for h, n in homes.items() if n > 2):
        names = tuple(row[1] for row in animals() if row[4] == home)
        made.append((f"animals that live {home}", names, f"animals that live {home}"))
    return tuple(made)


SOME = (
    "Name three {}.", "Name some {}.", "Tell me three {}.", "List three {}.", "Give me three {}.",
    "Which {} do you know?", "Can you name three {}?", "Three {}, please.", "Some {}, please.",
    "I need three {}.", "Think of three {}.", "Give me a few {}.", "My homework: three {}.",
    "Three {} for a quiz", "My son must know three {}.", "I can think of no {}. Help me.",
)  # fmt: skip
SOME_RESERVED = ("What are three {}?", "Could you list three {}?")


def some_of(rng: random.Random, held_out: bool) -> Conversation:
    """Three of a group, for example three countries in Africa."""
    what, names, begin = rng.choice(_groups())
    wording = rng.choice(SOME_RESERVED if held_out else SOME).format(what)
    return chat(as_typed(rng, wording), f"Three {begin} are {listed(rng.sample(names, 3))}.")


FOLLOW_UPS = {
    "capital": (
        "And {0}?", "And of {0}?", "And the capital of {0}?", "What about {0}?", "Now {0}.",
        "The same for {0}, please.", "Then {0}?", "Good. {0}?", "And which is it for {0}?",
    ),
    "food": (
        "And what do they eat?", "What do they eat?", "And their food?", "What is their food?",
        "How do they feed themselves?", "Ok, and what do they have for dinner?", "And the diet?",
    ),
    "home": (
        "And where do they live?", "Where do they live?", "And where can I find them?",
        "Where would I see one?", "And their habitat?", "Ok, and where is their home?",
    ),
}  # fmt: skip
FOLLOW_UPS_RESERVED = {
    "capital": ("And what about {0}?",),
    "food": ("And what do they live on?",),
    "home": ("And where are they found?",),
}


def talk(rng: random.Random, held_out: bool) -> Conversation:
    """A question from a table and a second one that leans on it."""
    then = FOLLOW_UPS_RESERVED if held_out else FOLLOW_UPS
    if rng.random() < 0.5:
        one, other = rng.sample([row[0] for row in rows(COUNTRIES)], 2)
        first, second = _by_name()[f"capital of {one}"], _by_name()[f"capital of {other}"]
        wording = rng.choice(then["capital"]).format(other)
    else:
        many = rng.choice(animals())[1]
        kinds = rng.sample(("food", "home"), 2)
        first, second = (_by_name()[f"{kind} of {many}"] for kind in kinds)
        wording = rng.choice(then[kinds[1]])
    answer = second.answers[-1] if second.name.startswith(("food", "home")) else second.answers[0]
    asked = rng.choice(first.reserved if held_out else first.questions)
    opening = chat(as_typed(rng, asked), first.answers[-1])
    return [*opening, *chat(as_typed(rng, wording), answer)]


def sample(rng: random.Random, held_out: bool = False) -> Conversation:
    """A hand-written topic, a row of a table, three of a group, or two questions in a row."""
    way = rng.random()
    if way < 0.62:
        return drawn(rng, _hand_written()).sample(rng, held_out)
    if way < 0.66:
        return some_of(rng, held_out)
    if way < 0.7:
        return talk(rng, held_out)
    table = rng.choices([t for t, _ in tables()], [share for _, share in tables()])[0]
    return drawn(rng, table).sample(rng, held_out)
