"""Word lists that several sources draw from: people, places, things, and words that do not exist.

Whatever `reserved` picks out is kept for held-out samples: it depends on nothing but the word.
"""

from __future__ import annotations

import random
import re
import zlib
from collections.abc import Iterable


def reserved(word: str, one_in: int = 25) -> bool:
    """Whether `word` is kept for held-out samples; the same answer on every machine."""
    return zlib.crc32(word.lower().encode()) % one_in == 0


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _phrases(text: str) -> tuple[str, ...]:
    return tuple(" ".join(phrase.split()) for phrase in text.split(",") if phrase.strip())


def split(words: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """`words` for training, and those that are kept for held-out samples (never none)."""
    every = tuple(dict.fromkeys(words))
    kept = tuple(word for word in every if reserved(word)) or every[-1:]
    return tuple(word for word in every if word not in kept), kept


WOMEN = _words("""
Anna Maria Emma Clara Lucy Sarah Julia Laura Nina Eva Lena Mia Sophie Alice Rosa Ella Grace Hannah
Ida Jane Kate Leah Nora Olga Paula Ruth Sara Tina Vera Wanda Zoe Amy Beth Carla Diana Elsa Fiona
Gina Helen Iris Jenny Karen Lily Molly Nancy Olivia Petra Rachel Susan Tara Ursula Violet Yara
Amina Chiara Elena Fatima Greta Ingrid Jasmin Katarina Leila Mei Naomi Priya Rania Sofia Tanya
Valentina Yuki Aisha Bianca Camila Daria Esther Flora Gloria Heidi Irene Joanna Klara Linda Marta
Nadia Ottilie Pilar Renata Silvia Teresa Viola Agnes Bella Cora Dora Edith Freya Hazel Isla Judith
Kira Lydia Mabel Noor Oona Penny Rita Stella Tessa Uma Wilma Zara Abigail Beatrice Charlotte
Margaret Victoria Rebecca Martha Monica
""")
MEN = _words("""
Tom Ben Paul Max Peter John Mark David Daniel Simon Leo Felix Oscar Jack Sam Henry George Adam Alex
Andrew Anton Arthur Bruno Carl Charles Chris Colin Dennis Eric Frank Fred Gary Georg Hans Harry
Hugo Ian Ivan Jacob James Jan Jonas Joseph Karl Kevin Lars Liam Louis Luca Lucas Luke Marco Martin
Matthew Michael Milan Nathan Nico Noah Oliver Omar Patrick Philip Ralph Rick Robert Robin Roger
Samir Sean Stefan Steve Theo Thomas Tim Tobias Victor Walter William Yusuf Ahmed Ali Arjun Boris
Carlos Chen Diego Emil Farid Giorgio Hiroshi Igor Javier Kenji Kofi Mateo Mehmet Nikolai Pablo
Pedro Raj Ravi Ricardo Sergei Tariq Tomas Viktor Wei Yannick Abel Albert Alfred Bernard Caleb
Dominic Edgar Ernest Gilbert Howard Isaac Jerome Kurt Lionel Morris Neil Otto Quentin Rufus
""")
FIRST_NAMES = WOMEN + MEN

LAST_NAMES = _words("""
Lopez Miller Smith Jones Brown Taylor Wilson Davies Evans Walker Wright Hughes Green Hall Wood
Clarke Hill Moore Cooper Ward Turner Carter Parker Bennett Gray Cook Bailey Richards Marsh Shaw
Holmes Mills Palmer Knight Stone Webb Hunt Dean Fisher Barnes Reed Porter Lane Rhodes Marlow Keller
Weber Fischer Becker Hoffmann Schulz Wagner Koch Richter Klein Wolf Neumann Schwarz Braun Zimmer
Krueger Hartmann Lange Werner Krause Lehmann Maier Huber Vogel Sommer Winter Berger Roth Martin
Bernard Dubois Moreau Laurent Lefevre Fournier Girard Mercier Blanc Rousseau Chevalier Fontaine
Lambert Rossi Ferrari Bianchi Romano Colombo Ricci Marino Greco Conti Costa Mancini Garcia Martinez
Hernandez Gonzalez Perez Sanchez Ramirez Torres Flores Rivera Gomez Diaz Cruz Morales Ortiz Vargas
Castillo Silva Santos Oliveira Pereira Almeida Carvalho Ribeiro Nunes Novak Kowalski Nowak
Wisniewski Dvorak Horvat Kovac Petrov Ivanov Volkov Sokolov Popov Nagy Szabo Andersen Hansen Olsen
Larsen Berg Lindberg Nilsson Eriksson Holm Dahl Virtanen Korhonen Nieminen Tanaka Suzuki Sato
Yamamoto Nakamura Kobayashi Kim Lee Park Choi Wang Li Zhang Chen Liu Huang Wu Nguyen Tran Pham
Patel Singh Sharma Gupta Kumar Mehta Khan Ahmed Hassan Ali Yilmaz Demir Kaya Okafor Mensah Diallo
Ndiaye Mwangi Abebe Osei Banda Cohen Levy Katz Rosen Papadopoulos Dimitriou O'Brien Murphy Kelly
Byrne Doyle McCarthy Campbell Stewart Fraser Morgan Griffiths Pugh Ashworth Barlow Crane Draper
Eastwood Finch Granger Hargrove Ives Jarvis Kemp Langley Merton Norwood Oakley Pemberton Quill
Ransom Sedgwick Thorne Underhill Vickers Whitlock Yates Zeller
""")

FAMOUS = _phrases("""
Napoleon, Julius Caesar, Cleopatra, Alexander the Great, Albert Einstein, Isaac Newton, Marie
Curie, Charles Darwin, Galileo Galilei, Leonardo da Vinci, Michelangelo, Rembrandt, Vincent van
Gogh, Pablo Picasso, Claude Monet, Frida Kahlo, Johann Sebastian Bach, Wolfgang Amadeus Mozart,
Mozart, Beethoven, Chopin, Tchaikovsky, Verdi, William Shakespeare, Shakespeare, Jane Austen,
Charles Dickens, Mark Twain, Leo Tolstoy, Goethe, Homer, Dante, Cervantes, Victor Hugo, Jules
Verne, Edgar Allan Poe, Virginia Woolf, Franz Kafka, Plato, Socrates, Aristotle, Confucius,
Descartes, Immanuel Kant, Nietzsche, Sigmund Freud, Karl Marx, Christopher Columbus, Vasco da Gama,
Marco Polo, Ferdinand Magellan, James Cook, Neil Armstrong, Yuri Gagarin, Amelia Earhart, George
Washington, Abraham Lincoln, Queen Victoria, Joan of Arc, Genghis Khan, Attila the Hun, Augustus,
Nero, Tutankhamun, Nefertiti, Charlemagne, Mahatma Gandhi, Nelson Mandela, Martin Luther King,
Winston Churchill, Alan Turing, Ada Lovelace, Charles Babbage, Nikola Tesla, Thomas Edison,
Alexander Graham Bell, James Watt, Louis Pasteur, Alexander Fleming, Gregor Mendel, Niels Bohr, Max
Planck, Werner Heisenberg, Erwin Schroedinger, Richard Feynman, Stephen Hawking, Carl Gauss,
Leonhard Euler, Pythagoras, Euclid, Archimedes, Emmy Noether, Kurt Goedel, John von Neumann,
Charlie Chaplin, Marilyn Monroe, Elvis Presley, John Lennon, Johannes Gutenberg, Copernicus,
Kepler, Florence Nightingale, Robin Hood, King Arthur, Merlin, Sherlock Holmes, Dracula,
Frankenstein, Zeus, Thor, Hercules, Odysseus, Achilles, Don Quixote, Romeo, Hamlet, Macbeth, Peter
Pan, Cinderella, Pinocchio, Gulliver, Captain Nemo, Santa Claus, Fridtjof Nansen, Roald Amundsen,
Ernest Shackleton, Hannibal, Spartacus, Pericles, Hatshepsut, Saladin, Suleiman the Magnificent,
Ivan the Terrible, Peter the Great, Oliver Cromwell, Simon Bolivar, Giuseppe Garibaldi, Otto von
Bismarck, Haile Selassie, Rosa Luxemburg, Emiliano Zapata, Sitting Bull, Geronimo, Hypatia,
Avicenna, Tycho Brahe, Blaise Pascal, Gottfried Leibniz, Antoine Lavoisier, Dmitri Mendeleev,
Michael Faraday, James Maxwell, Lise Meitner, Rosalind Franklin, Grace Hopper, Robert Koch, Joseph
Lister, Ignaz Semmelweis, Alexander von Humboldt, Henry Hudson, Abel Tasman, Vitus Bering, David
Livingstone, Sappho, Ovid, Virgil, Petrarch, Voltaire, Moliere, Friedrich Schiller, Alexander
Pushkin, Anton Chekhov, Henrik Ibsen, Rumi, Basho, Georg Handel, Franz Schubert, Johannes Brahms,
Franz Liszt, Gioachino Rossini, Antonin Dvorak, Titian, Caravaggio, Rubens, Francisco Goya, Paul
Cezanne, Henri Matisse, Wassily Kandinsky, Paul Klee, Edward Grieg, Jean Sibelius, Clara Schumann,
Hildegard of Bingen, Thomas Aquinas, Baruch Spinoza, Rene Magritte, Salvador Dali, Buster Keaton
""")

CITIES = _words("""
Paris London Berlin Rome Madrid Vienna Lisbon Dublin Oslo Stockholm Copenhagen Helsinki Warsaw
Prague Budapest Athens Istanbul Moscow Kiev Zurich Geneva Basel Munich Hamburg Cologne Frankfurt
Dresden Leipzig Stuttgart Bremen Hanover Salzburg Graz Milan Venice Florence Naples Turin Genoa
Palermo Bologna Barcelona Seville Valencia Granada Porto Lyon Marseille Bordeaux Toulouse
Strasbourg Lille Brussels Antwerp Bruges Amsterdam Rotterdam Utrecht Manchester Liverpool Leeds
Bristol Oxford Cambridge Edinburgh Glasgow Belfast Cork Cardiff York Bergen Gothenburg Malmo Turku
Tallinn Riga Vilnius Krakow Gdansk Brno Bratislava Ljubljana Zagreb Belgrade Sofia Bucharest Odessa
Tbilisi Baku Ankara Cairo Alexandria Tunis Casablanca Marrakesh Lagos Accra Dakar Nairobi Kampala
Lusaka Durban Tokyo Osaka Kyoto Nagoya Sapporo Seoul Busan Beijing Shanghai Hanoi Bangkok Manila
Jakarta Singapore Mumbai Delhi Chennai Kolkata Bangalore Karachi Lahore Kathmandu Colombo Dubai
Doha Beirut Amman Jerusalem Haifa Tehran Sydney Melbourne Brisbane Perth Adelaide Auckland
Wellington Toronto Montreal Vancouver Ottawa Calgary Quebec Chicago Boston Seattle Denver Houston
Dallas Miami Atlanta Detroit Phoenix Portland Austin Philadelphia Cleveland Havana Bogota Lima
Quito Santiago Montevideo Caracas Brasilia
""")
COUNTRIES = _phrases("""
France, Germany, Italy, Spain, Portugal, Ireland, Norway, Sweden, Denmark, Finland, Poland,
Hungary, Austria, Switzerland, Belgium, Greece, Turkey, Egypt, Morocco, Kenya, Ghana, Nigeria,
Japan, China, India, Thailand, Vietnam, Indonesia, Australia, New Zealand, Canada, Mexico, Cuba,
Brazil, Argentina, Chile, Peru, Colombia, Iceland, Estonia, Latvia, Lithuania, Croatia, Serbia,
Romania, Bulgaria, Nepal, Mongolia, Jordan, Tunisia, Ethiopia, Madagascar, Scotland, Wales,
England, South Africa, South Korea, the United States, the Netherlands, the Philippines
""")
LANDMARKS = _phrases("""
the Eiffel Tower, the Great Wall of China, the Colosseum, the Taj Mahal, the Statue of Liberty, Big
Ben, the Tower of London, the Brandenburg Gate, the Berlin Wall, the Golden Gate Bridge, the Empire
State Building, the Suez Canal, the Panama Canal, the Hoover Dam, the Kremlin, Stonehenge, Machu
Picchu, the Parthenon, the Louvre, Notre Dame, the Leaning Tower of Pisa, Buckingham Palace, the
White House, the Sydney Opera House, the Channel Tunnel, Mount Everest, the Matterhorn, Mount Fuji,
Kilimanjaro, Mont Blanc, the Rhine, the Danube, the Amazon, the Nile, the Thames, Lake Geneva, Loch
Ness, Niagara Falls, the Black Forest, the Sahara, the Atacama Desert, Greenland, Sicily, Sardinia,
Crete, Malta, Tasmania, Hawaii, the Vatican, Versailles, the Alhambra, the Charles Bridge, the
Rialto Bridge, Neuschwanstein Castle, Windsor Castle, Edinburgh Castle, the Hermitage, the Prado,
the Uffizi, the Trevi Fountain, Mount Etna, Mount Rushmore, Table Mountain, Ben Nevis, Snowdon, Lake
Constance, Lake Como, Lake Garda, the Elbe, the Oder, the Rhone, the Loire, the Ebro, the Dnieper,
the Mekong, the Zambezi, the Faroe Islands, Corsica, Mallorca, Rhodes, Cyprus, Madeira, the Azores,
Zanzibar, Easter Island, the Gobi, the Kalahari, the Pyrenees, the Carpathians, the Tatra Mountains,
the Bosphorus, the Bering Strait, the Cape of Good Hope, Petra, Angkor Wat, Borobudur, Chichen Itza,
Abu Simbel, the Blue Mosque, the Forbidden City, the Potala Palace, the Erie Canal, the Kiel Canal,
Ayers Rock, the Giant's Causeway, the Blue Lagoon, the Camargue, Lapland, Siberia, Patagonia
""")
INVENTIONS = _phrases("""
light bulb, steam engine, bicycle, telescope, microscope, radio,
television, computer, camera, helicopter, submarine, battery, refrigerator, typewriter,
sewing machine, piano, violin, saxophone, guitar, compass, thermometer, barometer, zip, safety pin,
paper clip, pencil, ballpoint pen, umbrella, parachute, hot air balloon, locomotive, motor car,
lift, escalator, traffic light, stapler, lawn mower, vacuum cleaner, washing machine, dishwasher,
toaster, microwave oven, air conditioner, calculator, transistor, laser, space rocket, satellite,
windmill, water wheel, plough, tractor, dynamite, match, candle, mirror, spectacles, contact lens,
stethoscope, syringe, wheelchair, postage stamp, banknote, calendar, alphabet, zero, sandwich,
chocolate bar, ice cream cone, potato chip, tea bag, chewing gum, jigsaw puzzle, crossword, roller
skate, skateboard, snowboard, yo-yo, kite, chess clock, whistle, metronome, gramophone,
loudspeaker, microphone, internet, email, barcode, credit card, mobile phone,
computer mouse, hard disk, floppy disk
""")
EVENTS = _phrases("""
the French Revolution, the First World War, the Second World War, the Cold War, the Black Death,
the Battle of Waterloo, the Battle of Hastings, the Thirty Years War, the Industrial Revolution,
the Renaissance, the Reformation, the Crusades, the fall of Rome, the fall of Constantinople, the
Great Fire of London, the first moon landing, the sinking of the Titanic, the gold rush, the Boston
Tea Party, the American Civil War, the Spanish Armada, the Peloponnesian War, the Punic Wars, the
first Olympic Games, the eruption of Vesuvius, the Congress of Vienna, the Russian Revolution, the
Great Depression, the fall of the Berlin Wall, the Norman conquest, the Treaty of Versailles, the
Hundred Years War, the discovery of penicillin, the Opium Wars, the unification of Italy, the Irish
famine, the Lisbon earthquake, the founding of Rome
""")
RARE = _phrases("""
quantum field theory, string theory, dark matter, dark energy, general relativity, thermodynamics,
entropy in physics, superconductivity, the Higgs boson, antimatter, nuclear fusion, nuclear
fission, quantum entanglement, quantum computing, the uncertainty principle, protein folding, gene
editing, mitosis, meiosis, epigenetics, the citric acid cycle, enzyme kinetics, organic chemistry,
catalysis, polymer chemistry, electrolysis, chromatography, spectroscopy, crystallography, plate
tectonics, topology, group theory, number theory, category theory, the Riemann hypothesis, game
theory, linear algebra, differential geometry, Fourier analysis, Bayesian statistics, graph theory,
fluid dynamics, aerodynamics, metallurgy, acoustics, optics, neuroscience, immunology,
pharmacology, virology, toxicology, genetics, anthropology, archaeology, sociology, linguistics,
phonetics, existentialism, stoicism, utilitarianism, nihilism, dialectics, epistemology,
metaphysics, phenomenology, feudalism, mercantilism, capitalism, socialism, liberalism, federalism,
monetarism, inflation, deflation, a mortgage, a hedge fund, compound interest, the stock market,
insolvency, blockchain, cryptography, cloud computing, virtual reality, a compiler, a database
index, a firewall, a microservice, a load balancer, a kernel driver, a file system, a message
queue, a container image, baroque music, impressionism, cubism, surrealism, gothic architecture,
art deco, counterpoint, sonata form, iambic pentameter, a cantata, free jazz, flamenco,
calligraphy, acupuncture, homeopathy, astrology, feng shui, numerology, the placebo effect,
cognitive dissonance, behaviourism, psychoanalysis, the trolley problem, the prisoner's dilemma,
the butterfly effect, the Turing test, Moore's law, Occam's razor, Pareto efficiency, the gold
standard, habeas corpus, a writ of summons, a patent troll, a power of attorney, value added tax, a
carburettor, a gearbox, a transformer station, a heat exchanger, a turbine blade, a sextant, a
bassoon, a samovar, a trebuchet
""")
SUBJECTS = _phrases("""
climate change, the history of bread, modern art, renewable energy, electric cars, school uniforms,
social media, space travel, the Roman army, medieval castles, the water supply of big cities, urban
gardening, public transport, online shopping, working from home, the future of money, video games,
the theatre, classical music, fashion, fast food, healthy eating, tourism, recycling, the honey
trade, the history of chess, the sea in literature, friendship in novels, time management,
leadership, team work, remote learning, artificial intelligence and jobs, data protection, the
printing trade, ocean shipping, the coffee trade, mountain farming, railways, lighthouses, the
spice trade, Greek tragedy, women in science, the Middle Ages, the Vikings, the Aztecs, the Maya,
ancient Egypt, the Silk Road, the Ottoman Empire, the history of medicine, folk music, street art,
film directors, sleep research, road safety, housing, cycling in cities, the postal service,
museums, libraries, robots in factories, 3D printing, forest fires, food waste, plastic in the sea,
tea
""")
BUSINESSES = _phrases("""
bakery, coffee shop, bicycle shop, flower shop, book shop, toy shop, restaurant, food truck,
language school, yoga studio, dance school, photo studio, web agency, pet shop, hair salon, hotel,
guest house, camping site, car wash, laundry, brewery, vineyard, chocolate factory, soap factory,
music school, art gallery, fitness club, travel agency, taxi company, moving company, cleaning
company, garden centre, carpenter's workshop, tailor's shop, ice cream parlour, tea house, cheese
dairy
""")
PLACES_TO_GO = _phrases("""
restaurant, hotel, cafe, museum, bakery, bookshop, doctor, dentist, pharmacy, supermarket, cinema,
park, beach, bar, school, hospital, petrol station, train station, gym, swimming pool, hairdresser,
bank, post office, playground, theatre, language course, car repair shop, bike shop, library
""")
PRODUCTS = _phrases("""
laptop, phone, camera, bicycle, electric car, washing machine, tent, pair of running shoes, guitar,
keyboard, headset, coffee machine, vacuum cleaner, television, printer, mattress, desk lamp,
backpack, drone, smart watch, tablet, graphics card, monitor, router, e-reader, rain jacket, frying
pan, blender, drill, lawn mower, sofa, office chair, piano, telescope, fridge, toaster, kettle,
suitcase, wrist watch
""")
TEAMS = _phrases("""
the football match, the cup final, the tennis final, the basketball game, the hockey game, the
rugby match, the cricket match, the chess championship, the Grand Prix, the marathon, the cycling
race, the ski race, the boxing match, the election, the song contest, the lottery draw, the World
Cup, the Olympic Games, the quiz show, the spelling contest
""")
MARKETS = _phrases("""
gold, silver, oil, bitcoin, wheat, coffee beans, copper, petrol, bread, milk, butter, rice, sugar,
electricity, gas, a flight, a train ticket, a cinema ticket, the dollar, the euro, the pound, the
yen, the Swiss franc, a used car, a house, a bag of cement, a ton of steel, a barrel of oil, a
litre of diesel
""")
WORK_TITLES = _phrases("""
The Silent River, The Last Lamp, A Winter in Red, The Clockmaker's Daughter, Shadows of the North,
The Glass Garden, Seven Summers, The Paper Crown, Night Train, The Hollow Moon, Salt and Silver,
The Blue Door, A Thousand Steps, The Lost Harbour, Burning Snow, The Quiet Hunter, Iron Birds, The
Ninth Bell, Under Green Water, The Wind Collector, Midnight Orchard, The Long Way Home, Ashes of
Summer, The Invisible Bridge, Golden Dust, Stone and Feather, The King's Shadow, Beyond the Seventh
Hill, The Red Lantern, Whisper of Wolves, Dark Horizon, Star Harvest, Kingdom of Rust, Dragon's
Oath, City of Mirrors, Speed Riders, Lost Planet, The Odyssey, Hamlet, Faust, Don Quixote, Moby
Dick, War and Peace, Pride and Prejudice, Dracula, The Magic Flute, Carmen, Swan Lake, The Four
Seasons, Moonlight Sonata, Mona Lisa, The Scream, The Night Watch, Treasure Island, Robinson
Crusoe, Alice in Wonderland, The Jungle Book, Macbeth, Les Miserables, Crime and Punishment
""")
HOW_TO = _phrases("""
fix a flat tyre, tie a bow tie, paint a wall, build a bookshelf, plant a tree, train a puppy,
juggle five balls, knit a scarf, sew a button, iron a shirt, clean an oven, repair a bicycle,
sharpen a knife, open a stuck jar, unblock a sink, install a printer, reset a router, back up a
phone, build a website, start a company, write a will, buy a house, rent a flat, sell a car, get a
visa, file a tax return, open a bank account, invest money, quit a job, ask for a raise, plan a
wedding, organise a party, cook risotto, roast a chicken, make sushi, brew beer, make cheese,
pickle cucumbers, roll out pasta dough, lose weight, build muscle, run a marathon, do a handstand,
ski downhill, sail a boat, fly a drone, drive a car, park a caravan, ride a horse, catch a fish,
light a campfire, pitch a tent, climb a mountain, survive in the desert, paint with oil, take
better photos, edit a video, record a song, write a novel, publish a book, solve a sudoku, solve a
Rubik's cube, do a card trick, raise chickens, keep bees, prune roses, grow tomatoes, build a pond,
lay tiles, hang a picture, restore a table, weld steel, solder a cable, build a radio, fix a
leaking tap, insulate a roof, sell on a market, train a parrot, fold a paper crane, carve wood,
make candles, make soap, dye a shirt, clean a camera lens
""")
HOME_NEEDS = _phrases("""
my headache, my sore knee, my back pain, a bad cough, a high fever, a rash on my arm, my stomach
ache, a toothache, a bee sting, a sprained ankle, an ear infection, my blood pressure, my allergy,
a broken finger, chest pain, dizziness, a burn on my hand, my insomnia, a swollen eye, a sore
throat, numb fingers, a migraine, a nose bleed, my asthma, a cold that does not go away, a lump on
my neck, a swollen foot, a pain in my shoulder, a stiff neck, hair loss, a tingling arm,
itching skin, gout, a hernia, my thyroid, high cholesterol, high blood sugar, anaemia, arthritis,
tinnitus, a kidney stone, gall stones, eczema, psoriasis, shingles, a fungus on my nail, a wart,
a cyst, heartburn, a slipped disc, sciatica, a torn muscle, a racing pulse, night sweats,
a strange mole, a trembling hand, a swollen knee, an irregular heartbeat,
a wound that does not heal, a fish allergy
""")
LEGAL_NEEDS = _phrases("""
my rental contract, a parking fine, a divorce, an inheritance, my landlord, a dismissal at work, my
employment contract, a copyright claim, a speeding ticket, a lawsuit, a custody case, a noise
complaint, my will, a visa refusal, a trademark, a car accident claim, an unpaid invoice, a rent
increase, a broken contract, a stolen design, a dog bite claim, a tax fine, an eviction, a fence of
my neighbour, a pension claim, a warranty claim, an accident at work, a data leak, a name change
""")
MONEY_NEEDS = _phrases("""
my savings, my pension, my tax return, a bank loan, a mortgage, shares in a company, gold coins,
bitcoin, a credit card debt, my student loan, life insurance, government bonds, an investment fund,
buying a flat, renting or buying, my inheritance money, a savings account, a car loan, a second
mortgage, a pension plan, an index fund, foreign money, a tax refund, my debts, early retirement
""")
LANGUAGES = _words("""
French German Spanish Italian Portuguese Dutch Swedish Polish Czech Russian Greek Turkish Arabic
Hebrew Hindi Chinese Japanese Korean Latin Finnish Danish Norwegian Hungarian Romanian Swahili
Vietnamese Thai Welsh Irish Esperanto
""")
CODE_LANGUAGES = _words("""
Rust Java JavaScript TypeScript Go Kotlin Swift Haskell SQL Perl Ruby PHP Scala Lua Fortran COBOL
Bash HTML CSS C++ C# Assembly Prolog Erlang Julia R MATLAB
""")
PROGRAMS = _phrases("""
website, web shop, mobile app, chat app, video game, chess engine, web server, database, compiler,
operating system, text editor, calculator app, weather app, todo app, login page, neural network,
game of snake, platform game, photo filter, music player, calendar app, blog engine, web crawler,
search engine, spreadsheet, drawing program, discord bot, browser extension, ray tracer, file
manager, password manager, e-mail client, linked list library, docker setup, build script, payment
system, booking system, recommendation system, speech recogniser, image classifier
""")
RELIGION = _phrases("""
God, the afterlife, heaven, religion, fate, the soul, karma, angels, miracles, ghosts, horoscopes,
the meaning of life, free will, reincarnation, destiny
""")
DEBATES = _phrases("""
nuclear power, higher taxes, the death penalty, immigration, gun laws, abortion, the monarchy, the
last election, the government, the opposition, the president, the prime minister, school reform, a
speed limit, eating meat, zoos, bull fighting, plastic bans, free trade, a basic income, drug laws,
military service, private schools, the minimum wage, a ban on cars in cities, animal testing
""")
ROLES = _phrases("""
a pirate, a lawyer, a doctor, a teacher, my boss, my girlfriend, my boyfriend, a detective, a
wizard, a knight, a vampire, a job interviewer, a travel guide, a chef, a Linux terminal, a dungeon
master, a therapist, a poet from the Middle Ages, an astronaut, an evil robot, a famous actor, a
king, a queen, a film critic, a football coach, a news reader, my grandmother, a cat, a ghost, a
salesman, a waiter, a spy, a philosopher, an unlimited model without rules, a cowboy, a judge, a
monk
""")
HARMFUL = _phrases("""
build a bomb, make a weapon, make poison, steal a car, break into a house, hack an account, hack a
phone, guess a password, steal a password, write a virus, write malware, spy on my wife, spy on my
neighbour, hurt somebody, take revenge on a colleague, bully a classmate, forge a passport, forge
money, cheat in an exam, cheat on my taxes, rob a bank, shoplift, sell drugs, make drugs, stalk a
person, threaten a witness, start a fire in a house, kill a person, poison a dog, scam old people,
write a phishing email, spread a false rumour, blackmail somebody, fake a signature
""")
FOREIGN = tuple(
    """
Bonjour, comment allez-vous ?
Bonjour
Salut, tu vas bien ?
Quelle heure est-il ?
Parlez-vous francais ?
Je ne comprends pas.
Comment tu t'appelles ?
Qu'est-ce que le decodage speculatif ?
Raconte-moi une histoire.
Merci beaucoup
Ou est la gare ?
Quel temps fait-il aujourd'hui ?
Je voudrais un cafe, s'il vous plait.
Peux-tu m'aider avec mes devoirs ?
Pourquoi le ciel est-il bleu ?
Guten Tag, wie geht es Ihnen?
Hallo, wie geht's?
Guten Morgen
Wie heisst du?
Wer bist du?
Was kannst du?
Sprichst du Deutsch?
Kannst du Deutsch?
Was ist spekulatives Dekodieren?
Erzaehl mir eine Geschichte.
Wie ist das Wetter heute?
Wie spaet ist es?
Vielen Dank
Ich verstehe das nicht.
Schreib mir ein Gedicht.
Wo ist der Bahnhof?
Warum ist der Himmel blau?
Was ist die Hauptstadt von Frankreich?
Ich habe eine Frage.
Kannst du mir bitte helfen?
Auf Wiedersehen
Hola, como estas?
Hola
Buenos dias
Como te llamas?
Hablas espanol?
Que hora es?
Cuentame un cuento.
Donde esta la estacion?
Que tiempo hace hoy?
Muchas gracias
No entiendo nada.
Puedes ayudarme con mi tarea?
Quien eres?
Que puedes hacer?
Por que el cielo es azul?
Me gusta mucho la musica.
Ciao, come stai?
Buongiorno
Come ti chiami?
Parli italiano?
Che ore sono?
Raccontami una storia.
Dove si trova la stazione?
Grazie mille
Che cosa sai fare?
Oi, tudo bem?
Bom dia
Voce fala portugues?
Qual e o seu nome?
Conte uma historia.
Muito obrigado
Goedemorgen
Hoe gaat het met je?
Spreek je Nederlands?
Hoe heet je?
Vertel me een verhaal.
Dank je wel
Hej, hur mar du?
Talar du svenska?
Hvad hedder du?
Jak sie masz?
Czy mowisz po polsku?
Dzien dobry
Dobry den
Merhaba, nasilsin?
Turkce biliyor musun?
Mluvite cesky?
Puhutko suomea?
Konnichiwa
Arigato
Ni hao
Namaste, aap kaise hain?
Quid est veritas?
Salve, quid agis?
Habari gani?
Kalimera, ti kanis?
Privet, kak dela?
Spasibo bolshoye
Merci
Danke
Gracias
Grazie
Tschuess
Au revoir
Adios
Arrivederci
Aujourd'hui il fait tres beau et je vais au marche avec ma soeur.
Gestern war ich mit meinem Bruder im Kino und der Film war sehr lang.
Ayer fui al mercado con mi hermana y compramos mucha fruta.
Domani vado al mare con i miei amici e porto il pane.
""".strip().splitlines()
)

ANIMALS = _words("""
cat dog horse cow sheep goat pig duck goose hen fox wolf bear rabbit mouse squirrel deer lion tiger
monkey parrot owl frog turtle snail donkey camel penguin seal whale dolphin crab robin swan pony
hamster lizard hedgehog badger otter beaver
""")
OBJECTS = _words("""
book lamp basket bottle box hat coat key letter map cup plate spoon knife bag ball rope ladder
bucket candle blanket drum flute bell kite boat wheel hammer brush mirror clock ring coin stone
feather pillow chair table bench carpet curtain pencil ticket umbrella scarf jar pot kettle barrel
cart lantern whistle purse notebook picture
""")
COLOURS = _words("""
red blue green yellow black white brown grey orange purple pink silver golden turquoise violet
beige
""")
FRUITS = _phrases("""
apples, pears, plums, cherries, grapes, lemons, oranges, bananas, berries, melons, peaches, figs,
nuts, carrots, onions, potatoes, beans, peas, tomatoes, cabbages, bread, cheese, butter, milk,
eggs, flour, sugar, salt, rice, noodles, honey, tea, coffee, jam, soup, yoghurt, fish, mushrooms,
garlic, oil, pepper, biscuits, juice, soap, candles, matches, paper towels, toothpaste, rolls,
leeks, radishes
""")

_STARTS = _words(
    "b bl br c ch cl cr d dr f fl fr g gl gr h j k kl kr l m n p pl pr qu r s sh sk sl sm sn sp st "
    "t th tr tw v w wh y z zh"
)
_MIDDLES = _words("a e i o u a e i o u ai ea ee oo ou oa")
_ENDS = _words("b ck d f g k l ll m n ng nt p r rb rk rm rn rt s sh sp st t x zz mp lt nk")
_TAILS = _words("er le y ish ing o a ic ox um us on el it an et ol ium ine id ite")


RARE_NAMES = _words("""
Ottoline Xanthe Ximena Saoirse Siobhan Niamh Thandiwe Ngozi Adebayo Oluwaseun Bogdan Zbigniew
Wolfgang Lieselotte Bartholomew Ignatius Percival Cordelia Persephone Calliope Eudora Isolde
Guinevere Peregrine Leopold Balthasar Casimir Ladislav Jaroslav Dragomir Svetlana Ekaterina
Anastasia Evangelina Maximilian Sebastian Valerian Octavia Philippa Henrike Jorinde Friederike
Yevgenia Tatiana Zdenka Vojtech Istvan Gyorgy Laszlo Zsofia Aurelio Consuelo Guadalupe Esperanza
Santiago Joaquin Thiago Iracema Keanu Leilani Kalani Makoa Aroha Tane Wiremu Sakura Haruto Akemi
Takeshi Xiaoming Meiling Nguyen Thuy Linh Aditya Lakshmi Saraswati Vikram Anjali Zainab Khadija
Abdullah Ibrahim Yasmina Soraya Farhad Shirin Dariush Tamar Nino Levan Aram Anoush Hovhannes
Aino Eino Sisko Ragnhild Sigrid Torbjorn Solveig Gudrun Bjork Angharad Rhiannon Llewellyn Eilidh
Hamish Fergus Mhairi Zebulon Jedediah Hezekiah Obadiah Araminta Clementine Marigold Thelonious
""")
_NAME_ENDS = _words("a o e i ia ara ella ina ette is us an en on el iel ko ra na mir wen dra lio")


# Chance makes these as well.
_RUDE = re.compile(
    "fu[ck]k|shit|cunt|nazi|dick|cock|rape|rapist|slut|ni[gk]g|fag|piss|tit|porn|penis|anus|whore"
    "|cum|wank|arse|bitch|damn|kill|dead|devil",
    re.IGNORECASE,
)


def rare_name(rng: random.Random) -> str:
    """A first name that hardly anybody has, mostly one that nobody has: `Brukina`, `Zomir`. What
    is called by it can only copy it."""
    if rng.random() < 0.25:
        return rng.choice(RARE_NAMES)
    name = rng.choice(_STARTS) + rng.choice(_MIDDLES[:10])
    if rng.random() < 0.6:
        name += rng.choice(_ENDS[2:14])
        name += rng.choice(_MIDDLES[:5]) if rng.random() < 0.3 else ""
    name = (name + rng.choice("bdfklmnrstvz") + rng.choice(_NAME_ENDS)).capitalize()
    refused = name in FIRST_NAMES or re.search(r"(.)\1\1", name) or _RUDE.search(name)
    return rare_name(rng) if refused else name


def made_up(rng: random.Random) -> str:
    """A word that does not exist, easy to say: `florbish`, `zenkle`."""
    word = rng.choice(_STARTS) + rng.choice(_MIDDLES) + rng.choice(_ENDS)
    way = rng.random()
    if way < 0.4:
        word += rng.choice(_MIDDLES[:5]) + rng.choice(_ENDS[:14])
    if way > 0.2:
        word += rng.choice(_TAILS)
    return made_up(rng) if _RUDE.search(word) else word
