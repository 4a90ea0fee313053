"""What is measured and calculated, the frames that turn a command into a sentence, and what is said without a tool."""

# what can be measured, with its units; and what is calculated from it
QUANTITIES = """mass: kg, g, pounds, tons; weight: kg, pounds, lbs; height: m, cm, meters, feet; length: m, cm, meters, inches; width: m, cm, meters; depth: m, meters; radius: m, cm; diameter: cm, mm; distance: km, miles, m, meters; speed: km/h, m/s, mph;
velocity: m/s, km/h; acceleration: m/s^2; time: s, seconds, hours, minutes; duration: minutes, hours; temperature: degrees, °C, K; pressure: Pa, bar; volume: liters, m^3, ml; density: kg/m^3; force: N, newtons; energy: J, kWh; power: W, watts, kW; voltage: V, volts; current: A, amps;
resistance: ohms; frequency: Hz, MHz; charge: coulombs, C; angle: degrees, °; area: m^2, square meters, square feet, acres; age: years; price: euros, dollars; cost: euros, dollars; rate: %, percent; interest_rate: %, percent; principal: dollars, euros; years: ; months: ; days: ; hours: ; salary: euros, dollars; income: euros, dollars;
tax: %, percent; discount: %, percent; quantity: ; bedrooms: ; bathrooms: ; rooms: ; floors: ; people: ; guests: ; sides: ; rows: ; columns: ; population: people; growth_rate: %, percent; score: points; points: ; base: ; exponent: ; capacity: liters, Wh; concentration: mol, percent; dose: mg; calories: kcal; humidity: %, percent;
brightness: %, lumens; capital: euros, dollars; deposit: euros, dollars; fee: euros, dollars; budget: euros, dollars; number: ; amount: ; value: ; limit: ; size: cm, GB, MB; bandwidth: Mbit; latency: ms; load: kg, percent; slope: degrees; altitude: m, meters; wavelength: nm; period: s, seconds; offset: ; threshold: ; tolerance: mm; thickness: mm, cm"""
RESULTS = """area, volume, perimeter, density, speed, velocity, final velocity, kinetic energy, potential energy, momentum, force, pressure, power, energy, cost, total cost, profit, loss, revenue, interest, future value, present value, monthly payment, tax, discount, tip, salary, net income, break-even point, growth, population, probability, average, median,
variance, distance, travel time, arrival time, fuel consumption, range, flow rate, heat loss, resistance, current, voltage, capacitance, resonant frequency, wavelength, dosage, body mass index, calorie need, heart rate zone, score, ranking, rent, price, insurance premium, material needed, paint needed, number of tiles, electric field, acceleration, torque, angle, slope,
hypotenuse, surface, lifetime, efficiency, yield, harvest, concentration, pH value, return on investment, exchange value, shipping cost, carbon footprint, emission, electricity bill, water usage, download time, storage need, ticket price, calories burned, pace, retirement savings, mortgage, depreciation, inflation, index, factor"""
PREFIXED = ["initial", "final", "target", "total", "max", "min", "average", "new", "current", "desired", "annual", "monthly", "starting", "outer", "inner", "expected"]

# how a command becomes a sentence: {A} a command, {ing} the same with its verb in -ing, {N} something to know. The number is its weight.
COMMAND = [
    ("{A}", 34), ("please {A}", 9), ("{A} please", 5), ("{A}, please", 3), ("can you {A}?", 8), ("could you {A}?", 7), ("could you please {A}?", 4), ("can you please {A}?", 4),
    ("would you {A}?", 3), ("would you please {A}?", 2), ("will you {A}?", 1), ("I want you to {A}", 2), ("I'd like you to {A}", 3), ("I need you to {A}", 3), ("I want to {A}", 4),
    ("I would like to {A}", 3), ("I'd like to {A}", 4), ("I need to {A}", 4), ("help me {A}", 2), ("can you help me {A}?", 2), ("go ahead and {A}", 3), ("let's {A}", 3), ("kindly {A}", 1),
    ("would you mind {ing}?", 3), ("do you mind {ing}?", 1), ("do me a favor and {A}", 1), ("be so kind and {A}", 1), ("is it possible to {A}?", 1), ("I was wondering if you could {A}", 1), ("could you maybe {A}?", 1),
    ("just {A}", 3), ("quickly {A}", 1), ("now {A}", 2), ("{A} for me", 5), ("{A} now", 2), ("{A} right away", 1), ("{A} for me please", 1), ("can we {A}?", 2), ("could we {A}?", 1), ("can I {A}?", 2), ("you should {A}", 1), ("time to {A}", 1),
    ("make sure to {A}", 1), ("don't forget to {A}", 1), ("try to {A}", 1), ("it would be great if you could {A}", 1), ("I'd appreciate it if you could {A}", 1), ("how about {ing}?", 1),
    ("my boss wants me to {A}", 0.5), ("{first} asked me to {A}", 0.7), ("we have to {A}", 1), ("we need to {A}", 2), ("I have to {A}", 2), ("I must {A}", 0.5), ("I've got to {A}", 0.5), ("I gotta {A}", 0.3), ("next, {A}", 1), ("go {A}", 0.5),
    ("your task: {A}", 0.5), ("I want {first} to know, so {A}", 0.1), ("I think we should {A}", 1), ("we should {A}", 1), ("I'm trying to {A}", 1), ("you can {A}", 0.5), ("use the tool to {A}", 0.7), ("what if you {A}", 0.2), ("please go ahead and {A}", 1),
    ("could you {A} for me?", 2), ("can you {A} for me?", 3), ("please {A} for me", 1), ("I'd love to {A}", 0.7), ("I am going to {A}", 0.2), ("I feel like {ing}", 0.4), ("ok, {A}", 1), ("then {A}", 0.7), ("please help me to {A}", 0.7), ("start {ing}", 0.2), ("any chance you could {A}?", 0.7),
    ("can somebody {A}?", 0.3), ("someone has to {A}", 0.3), ("it's time to {A}", 0.7), ("I'd be happy if you could {A}", 0.3), ("I request you to {A}", 0.2), ("make it so that you {A}", 0.1), ("I'm supposed to {A}", 0.4), ("the plan is to {A}", 0.3), ("remember to {A}", 0.1), ("it is necessary to {A}", 0.2),
]
KNOWLEDGE = [
    ("what is {N}?", 10), ("what's {N}?", 10), ("show me {N}", 9), ("give me {N}", 8), ("tell me {N}", 8), ("I need {N}", 7), ("I'd like to know {N}", 3), ("I want to know {N}", 3), ("can you tell me {N}?", 5),
    ("could you get me {N}?", 3), ("get {N}", 4), ("get me {N}", 4), ("find {N}", 3), ("look up {N}", 3), ("{N}?", 5), ("{N}", 6), ("{N} please", 4), ("{N}, please", 3), ("do you know {N}?", 3), ("can I have {N}?", 2), ("can I see {N}?", 2), ("could I get {N}?", 2),
    ("let me see {N}", 2), ("I'm curious about {N}", 1), ("check {N}", 3), ("fetch {N}", 2), ("I'm interested in {N}", 1), ("I'm looking for {N}", 2), ("pull up {N}", 1), ("bring up {N}", 1), ("display {N}", 2), ("find out {N}", 2), ("any idea what {N} is?", 1),
    ("I was wondering about {N}", 1), ("retrieve {N}", 1), ("could you show me {N}?", 3), ("can you show me {N}?", 3), ("can you find {N}?", 2), ("can you look up {N}?", 2), ("I want {N}", 2), ("I would like {N}", 2), ("please show me {N}", 2), ("please tell me {N}", 2), ("please give me {N}", 2),
    ("let me know {N}", 1), ("what about {N}?", 1), ("how about {N}?", 1), ("I have to know {N}", 1), ("{first} wants to know {N}", 0.7), ("could you check {N}?", 2), ("please check {N}", 1), ("I'd like {N}", 2), ("I'd like to see {N}", 2), ("I want to see {N}", 2), ("quick question: {N}?", 0.5), ("give me info on {N}", 0.7), ("inform me about {N}", 0.4),
]
CONTEXTS = [
    "The {noun} is {adj}(| again| today).", "My {noun} {past} the {noun}.", "I'm (looking for|thinking about|worried about|happy with|fed up with) the {noun}.", "{who} (needs|wants|asked about|is waiting for|likes|forgot) the {noun}.", "We have (a|one|too many|no) {noun}(| left| here)(.|, sadly.)",
    "I (just|already|finally|never) {past} (a|the|my|our) {noun}.", "It's (so |really |very |a bit |)(cold|hot|dark|late|early|loud|quiet|dirty|busy|messy|windy) (here|in here|outside|today|already).", "There's (a problem|trouble|something wrong) with the {noun}.", "{who} is (here|coming over|at the door|on the phone|hungry|sick|tired|in a hurry|moving out).",
    "I (can't|couldn't) (find|see|hear|reach|remember|open) the {noun}.", "The {noun} (broke|is broken|is empty|is full|is gone|is missing|is ready|looks {adj}|smells {adj}|arrived|stopped working|won't start).", "This {noun} is (for|from) {who}.", "I'm (getting|preparing) (everything|things) (ready |)for the {noun}.", "We (are|were) talking about (a|the) {adj} {noun}.",
    "I'm (new to this|not sure how this works|in the {noun}|at work|at home|on the bus|out for a walk|in bed|in a meeting|about to leave|running late|busy with the {noun}).", "(Remember|Forget) the {noun}.", "You know the {adj} {noun}.", "First things first.", "One more thing.", "Here is what I need.", "(A|One) quick (question|thing|favor).", "I (hate|love|like|need|miss|want) (this|that|my) {adj} {noun}.",
    "Somebody {past} the {noun} (and|but) {who} {past} the {noun}.", "It's about the {noun}.", "I've got a {noun} and a {noun}.", "The {adj} one and the {adj} one are fine.", "Nobody {past} it.", "{who} said (it was|it is|so|the {noun} is {adj}).", "(Ugh|Well|Right|Okay|Great|Hm|Oh dear), (the {noun}|that was {adj}|here we go|not again).",
]
REASONS = ["because (the {noun} is {adj}|I forgot|{who} asked for it|it's {adj}|we need it|it is late|I have no time)", ", (since|as) (the {noun} is {adj}|{who} can't|we're late|I'm busy)", "so that (we can start|{who} is happy|nobody forgets|the {noun} stays {adj}|I can relax)", ", (it's for|I promised it to|I need it for) {who}", "before (it's too late|I forget|the {noun} gets {adj}|we leave)", ", (I'm in a hurry|it's important|I almost forgot|as always|like last time|if you can|when you have time|if possible)"]
GREETINGS = ["hey, ", "hi, ", "hello, ", "hi! ", "hello! ", "hey there, ", "ok, ", "okay, ", "so, ", "alright, ", "good morning, ", "listen, ", "hey assistant, ", "yo, ", "um, ", "well, ", "actually, ", "also, ", "oh, ", "Hello. "]
AND = [" and ", " and ", " and ", ", ", " and also ", ", and ", ". Also, ", ". Also ", " plus ", " as well as ", ". And ", "; ", ", then also ", ". Then also "]
THEN = [" and then ", ", then ", ", and after that ", ". After that, ", ". Then ", ". When that is done, ", " and afterwards ", ". Once done, "]

GERUND = {"set": "setting", "put": "putting", "get": "getting", "run": "running", "stop": "stopping", "cut": "cutting", "let": "letting", "shut": "shutting", "drop": "dropping", "plan": "planning", "swap": "swapping", "jot": "jotting",
          "tag": "tagging", "log": "logging", "snap": "snapping", "wrap": "wrapping", "dim": "dimming", "zip": "zipping", "flip": "flipping", "skip": "skipping", "quit": "quitting", "begin": "beginning", "submit": "submitting", "commit": "committing",
          "ban": "banning", "scan": "scanning", "unzip": "unzipping", "grab": "grabbing", "tap": "tapping", "hit": "hitting", "ship": "shipping", "bet": "betting", "rm": "removing", "cancel": "canceling", "split": "splitting", "sum": "summing", "ping": "pinging",
          "grep": "grepping", "crop": "cropping", "pop": "popping", "kick": "kicking", "see": "seeing", "tie": "tying",
          **{verb: verb + verb[-1] + "ing" for verb in "chop enrol jog swim shop trim clip dig tip mop rub scrub sip snip spin stir trap tug win bin slot fit transfer refer defer nab pin prep strip slim rig drag hop step tan tip tot wed whet wet zap".split()}}


def gerund(command):
    verb, space, rest = command.partition(" ")
    if verb in GERUND:
        verb = GERUND[verb]
    elif verb.endswith("e") and not verb.endswith("ee"):
        verb = verb[:-1] + "ing"
    else:
        verb += "ing"
    return verb + space + rest


CHAT = [
    ("hi|hello|hey|hi there|hello there|good morning|good evening|good afternoon|hey there|greetings|hey you|hello assistant|yo", "Hello! What can I do for you?"),
    ("how are you|how are you doing|how's it going|how are things|are you well|how do you feel|what's up|how have you been", "I am fine, thank you. What can I do for you?"),
    ("thanks|thank you|thanks a lot|thank you very much|great, thanks|perfect, thanks|cheers|thank you so much|nice, thank you|that was helpful, thanks|awesome, thanks", "You are welcome."),
    ("bye|goodbye|see you|see you later|good night|bye bye|talk to you later|I have to go now|that's all for today|see you tomorrow", "Goodbye!"),
    ("who are you|what are you|what is your name|are you a robot|are you human|tell me about yourself|introduce yourself|what's your name|are you an AI|who made you|which model are you", "I am a small model that calls tools."),
    ("ok|okay|alright|fine|I see|got it|good|great|cool|nice|sure|all right|understood|makes sense|wow|interesting|perfect", "All right. Tell me when you need something."),
    ("you are great|you're awesome|well done|good job|nice work|you are so smart|I like you|I love you|you rock|impressive", "Thank you!"),
    ("you are stupid|you're useless|that was bad|I hate you|bad robot|you are wrong|that's wrong|this is terrible|you don't understand me|I'm disappointed", "I am sorry. I will try to do better."),
    ("are you there|can you hear me|are you awake|hello, anyone there|are you listening|test|testing|ping pong|is this thing on", "Yes, I am here."),
    ("sorry|I'm sorry|my mistake|my bad|oops|excuse me|pardon|sorry about that", "No problem."),
    ("yes|yes please|yeah|yep|of course|correct|right|exactly", "All right. What shall I do?"),
    ("no|nope|no thanks|not now|never mind|forget it|no, that's all|nothing|stop it|leave it|maybe later", "All right."),
]
OPEN_QUESTIONS = [
    "why is the sky blue", "what is the meaning of life", "how do birds fly", "why do cats purr", "who painted the Mona Lisa", "who invented the telephone", "why do we dream", "what is love", "how does a computer work", "how old is the universe", "why is the sea salty",
    "who was the first man on the moon", "what came first, the chicken or the egg", "how do airplanes stay in the air", "why do leaves change color", "what is consciousness", "do fish sleep", "how is glass made", "why is math hard", "what's the difference between a crocodile and an alligator",
    "who wrote {book}", "what do you think about {topic}", "explain {topic} to me", "explain {topic} like I'm five", "tell me something about {topic}", "write a poem about {topic}", "write a story about a {animal}", "write me a song about {noun}s", "tell me a story", "tell me a fairy tale",
    "sing me a song", "what's your favorite {food}", "do you like {food}", "which is better, {food} or {food}", "what is the best {sport} team", "who will win the election", "is {topic} important", "how can I become rich", "how can I be happy", "what should I do with my life", "can you love",
    "do you dream", "do you believe in God", "are you conscious", "can you feel pain", "how do I learn {language}", "is {language} hard to learn", "why are {animal}s so cute", "how long do {animal}s live", "what do {animal}s eat", "what is the smartest animal", "I am bored", "I'm sad", "I feel lonely",
    "I had a bad day", "my {animal} is sick", "I got a new job", "it's my birthday", "I'm getting married", "we won the game", "my car broke down again", "give me some advice", "what should I wear to a wedding", "how do I tie a tie", "what would you do", "is it true that the earth is flat", "prove that there are infinitely many primes",
    "what is the airspeed of a swallow", "write an essay on {topic}", "write a haiku about the {noun}", "compose a limerick", "give me a riddle", "tell me a fun fact", "do you have feelings", "what is {topic}", "who is {name}", "what's the history of {food}", "how was your day", "where do you live", "how old are you", "what languages do you speak",
    "help", "I need help", "what now", "hmm", "let's talk", "let's chat", "can we talk", "talk to me", "say something", "surprise me", "entertain me", "philosophize about the {noun}", "debate {topic} with me", "what is the square of the hypotenuse called", "how many continents are there", "when did the war end", "how tall is Mount Everest",
]
OPEN_ANSWERS = ["I don't know. I am a small model that calls tools.", "I can't help with that: I only know how to call tools."]
NO_TOOL = ["I have no tool for that.", "Sorry, none of my tools can do that."]
WHICH_TOOLS = ["what can you do", "what are you able to do", "which tools do you have", "what tools do you have", "list your tools", "what are your capabilities", "how can you help me", "what can I ask you", "show me your functions", "which functions can you call", "what functions are available", "tell me what you can do",
               "what do you offer", "which tools are available", "name your tools", "what are your tools", "what can you help me with", "what can you help with", "list all available functions", "help me understand what you can do", "show your tools", "what's in your toolbox", "which commands do you know", "what else can you do"]
SYSTEMS = ["You are a helpful assistant.", "You are a helpful assistant with tools.", "Be brief.", "Answer in one sentence.", "You are a voice assistant.", "You are the assistant of {company}.", "You help {name} with daily tasks.", "Use the tools when needed.", "You are a friendly robot.", "Today is {date}.", "The user lives in {city}.",
           "You are a chat bot for {company}. Be polite.", "You run in a terminal.", "You control a smart home.", "Current date: {date}.", "You are an expert.", "Never make up values.", "Only call a tool when it is needed.", "You are Dragoman.", "Speak plainly.", "You are a coding agent.", "The user's name is {name}. The time zone is {timezone}."]
