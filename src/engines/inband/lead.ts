/**
 * Tells whether the words before a call announce it, as in "Let me look it up:", or show it, as in "A call is written like this:".
 *
 * A model that acts says so in the first person and the present, at the beginning of a clause. Any other words before a call, in any
 * language, may be talking about the call. Verbs of telling, examples, suppositions, questions and refusals show a call, and so does a
 * sentence that the call is part of ("It expects <call>"). After a complete sentence, which may be a finding ("The test fails."), the call
 * may be the next step, unless the text is about calls or the user has just asked about them. In doubt the call counts as shown, so that it
 * does not run.
 */

/** How many characters before a call are examined: a few sentences. */
export const MAX_LEAD = 600;

/** `text`: what was said before the call, or the end of it. `asked`: the user's last message, if this is the answer to it. */
export function leadsToCall(text: string, asked = ""): boolean {
  const said = text.replace(TRIMMED, "");
  if (said === "") return true;
  const lead = said.slice(lastStart(said)).replace(EMPHASIS, "");
  if (SHOWS.test(lead) || (/[\p{L}\p{N}"'”’»]$/u.test(lead) && /^[ \t]+$/.test(text.slice(said.length)))) return false;
  return ANNOUNCES.test(lead) || (CLOSED.test(lead) && (CONSENTS.test(lead) || !(OF_CALLS.test(said) || OF_CALLS.test(asked))));
}

const TRIMMED = /(?:\s|\p{Extended_Pictographic}|\u{FE0F})+$/u;
const EMPHASIS = /[*_#]/g;
const CLOSED = /[.!…。！][)"'”’»]*$/;
/** A sentence begins after the end of another, and on every line. */
const START = /[.!?…][)"'”’»*_]*\s+|[。！？…]+|\n/g;

function lastStart(said: string): number {
  let start = 0;
  for (const { index, 0: end } of said.matchAll(START)) if (index + end.length < said.length) start = index + end.length;
  return start;
}

interface Phrases {
  /** What the speaker does now, at the beginning of a clause. */
  readonly announces: string;
  /** A word of consent, or a request to wait, and little else. */
  readonly consents: string;
  /** The lead tells, supposes, reports or refuses. */
  readonly shows: string;
  /** The text is about calls, their notation, or something that was or will be written: the call may be its subject. */
  readonly ofCalls: string;
}

const raw = String.raw;

const ENGLISH = {
  subject: [
    raw`(?:I|we)(?:['’]ll| will| should(?! have)| must|['’]d (?:like|love) to|(?: now)? (?:need(?! you)|(?:have|want) to)|(?:['’]m| am|['’]re| are)(?: now| just)?(?: going to|(?= \p{L}+ing\b)))`,
    raw`let(?: me|['’]s| us)`,
  ].join("|"),
  acting: [
    "add|ask|book|brows|build|calculat|call|check|comput|confirm|continu|convert|creat|delet|download|edit|examin|execut|fetch|find|fix|generat|gett?",
    "grabb?|inspect|install|invok|list|load|look|mov|open|pull|query|read|remov|request|retriev|retry|runn?|sav|scann?|search|send|start|test|try|updat|us|verify|work|writ",
  ].join("|"),
  telling: [
    raw`answer|assum|break(?:ing)? down|cit(?:e|ing)\b|clarify|consider|demonstrat|describ|echo|emit|explain|giv(?:e|ing) (?:you|an?|the)\b|illustrat|imagin|leav|mean\b|mention|not(?:e|ing)\b|outlin|output|past(?:e|ing)\b`,
    raw`point(?:ing)? out|present\b|pretend|print|produc|quot|recit|recommend|repeat|reply|reproduc|respond|say\b|show|spell|stat(?:e|ing)\b|suggest|suppos|tell|type|typing|walk|warn|writ(?:e|ing)(?: (?:down|out|it|this|that|you|an?)\b|[:\s]*$)`,
  ].join("|"),
};

const LANGUAGES: readonly Phrases[] = [
  {
    announces: raw`(?:${ENGLISH.subject}) \p{L}|(?:${ENGLISH.acting})ing\b[^,;]*[:.!…]$|I can (?:check|do|find|get|help|look|search)\b[^,;:]*[.!]$`,
    consents: raw`yes|sure|okay|ok|of course|certainly|absolutely|right away|(?:one|just a|give me a) (?:moment|second|sec)(?: while I(?: \p{L}+)+)?|hold on|got it|great|perfect|alright|understood|no problem`,
    shows: [
      raw`(?:${ENGLISH.subject})(?: now| just| also| first| \p{L}+ly)? (?:not\b|never\b|${ENGLISH.telling})`,
      raw`for (?:example|instance)|[ei]\.[eg]\.|^examples?\b|(?:an?|one|another) (?:\p{L}+ )?(?:example|illustration|sample|template)\b|examples? of`,
      raw`looks? like|like (?:this|so)\b|as follows|such as|of (?:this|that|the) (?:form|kind|shape)|(?:I|you|we|one|they|model|assistant|it|this|that|which) (?:would|could)|I['’]d (?!like|love)|were I|^(?:if|when|whenever|suppose) `,
      raw`(?:not|never|cannot|without)(?: \p{L}+){0,2} (?:call|run|execut|us|invok|send|emit|answer)(?:e|s|ing)?\b`,
      raw`(?<!mak(?:e|ing) )(?:an?|the|this|that|your) (?:\p{L}+ )?calls?\b|syntax|dialect|markup|sentinel`,
      raw`^\p{L}+ing an? (?:\p{L}+ )?call\b|^\p{L}+ing [^,;:]* (?:is|are|was|means?|requires?|takes?|needs?|works?)\b`,
    ].join("|"),
    ofCalls: [
      raw`tools?\b|function calls?\b|(?:an?|the|this|that|such|my|your|every|each) (?:\p{L}+ )?(?:call|invocation|block)\b|calls\b|called|invo[ck]|ran\b|executed`,
      raw`syntax|formats?\b|markup|tags?\b|tokens?\b|sentinel|markers?\b|dialect|template|examples?\b|sample|emit|output|arguments?\b|parameters?\b`,
      raw`the (?:model|assistant)|(?:that|this|it)(?:['’]s| is) (?:all|the|how|what)|sent\b|wrote|replied|said\b|would|you (?:can|could|may|should|must|write)|below|following`,
    ].join("|"),
  },
  {
    // German
    announces: raw`ich \p{L}+e\b|(?:zuerst|jetzt|nun|dann|dafür|dazu) \p{L}+e ich\b|lass(?:t|en Sie)? (?:mich|uns)\b|mal sehen|schauen wir\b`,
    consents: "(?:einen )?(?:kleinen )?(?:moment|augenblick)|gerne?|klar|natürlich|in ordnung|alles klar|ja",
    shows: raw`beispiel|aufrufs?\b|vermut|glaub|denke|würde|hätte|könnte|wäre|haben?\b|zeig|erklär|zitier|meine\b|nenne|schreibe?\b|gebe\b|nicht\b|^(?:wenn|falls)\b`,
    ofCalls: raw`aufruf|aufgerufen|aufzurufen|beispiel|ausgabe|modell|würde|folgend|schreib`,
  },
  {
    // French
    announces: raw`je (?:vais|(?!ne\b)\p{L}+e)\b|j['’]\p{L}+e\b|laisse[zr]?-moi|(?:commen|lan)çons\b|(?:voy|regard|cherch)ons\b`,
    consents: "un (?:instant|moment)|oui|bien sûr|d['’]accord|très bien|entendu",
    shows: raw`exemple|appels?\b|\p{L}+rai[st]\b|montr|expliqu|cite|écri|donne|rappelle|syntaxe|^si\b`,
    ofCalls: raw`appels?\b|appelé|exemple|syntaxe|modèle|suivant|écri`,
  },
  {
    // Spanish, Portuguese, Italian
    announces: [
      raw`(?:voy|vado) a\b|vou\b|vamos\b|vediamo\b|d[eé]j[ae]n?me\b|deixe?-?\s?me\b|permít[ae]n?me\b|fammi\b|lasciami\b`,
      raw`(?:estoy|estou|sto) \p{L}+ndo\b|(?!comando|quando)\p{L}+[aei]ndo\b|\p{L}+(?:[aei]ré|[aei]rei|[ei]rò)\b`,
      raw`(?:abro|apro|busco|cerco|compruebo|consulto|controllo|ejecuto|eseguo|guardo|leggo|leio|leo|miro|necesito|pesquiso|preciso|procuro|reviso|uso|verifico)\b`,
    ].join("|"),
    consents: "un moment[oi]|um momento|s[ií]|sim|claro|por supuesto|certo|certamente|de acuerdo|perfecto|perfeito|va bene|subito",
    shows: raw`llamada|chamada|chiamata|viendo|vendo\b|e[jx]emplo|esempio|mostr|expli(?:car|co\b|qu)|spieg|cit(?:o|ar)\b|escrib|escrev|scriv|sintaxis|sintaxe|sintassi|^(?:si|se)\b`,
    ofCalls: raw`llamad|chamada|chiamat|e[jx]emplo|esempio|formato|sintaxis|sintaxe|sintassi|modelo|modello|siguiente|seguinte|seguente|escrib|escrev|scriv`,
  },
  {
    // Dutch, Polish, Turkish
    announces: raw`ik \p{L}+ |laat me\b|(?:otworzę|poszukam|przeczytam|sprawdzam|sprawdzę|szukam|zobaczę)\b|(?:\p{L}+ )?\p{L}+(?:[ıiuü]yorum|acağım|eceğim)\b`,
    consents: "een moment|momentje|natuurlijk|chwileczkę|oczywiście|bir (?:saniye|dakika)|tabii",
    shows: raw`voorbeeld|przykład|örne[kğ]|zou\b|toon|laat zien|leg uit|schrijf|citeer|niet\b|heb\b|^als\b`,
    ofCalls: raw`aanroep|aangeroepen|voorbeeld|uitvoer|volgende`,
  },
  {
    // Chinese
    announces: "我(?:来|先|需要|会|将|要|现在|去|这就|再|们来|们先)|让我|正在",
    consents: "是的|好的|好|没问题|请?稍等",
    shows: "例|这样|這樣|如下|如果|假如|不要|不会|展示|演示|解释|說明|说明|引用|给出|写出|写法|语法|格式|看到",
    ofCalls: "调用|調用|格式|例|语法|語法|模型|输出|輸出|如下|以下|写",
  },
  {
    // Japanese and Korean: the verb ends the sentence, and は, 는 or 은 would mark somebody else as the one who acts
    announces:
      "(?:では、?|まず、?|それでは、?|今から)?[^は]*(?:調べ|確認し|検索し|読み|開き|取得し|実行し|見てみ)ま(?:す|しょう)[。！：:…]*$|[^は]*お待ちください|[^는은]*(?:겠습니다|게요)",
    consents: "はい|承知しました|了解しました|少々お待ちください|네|알겠습니다|잠시만(?:요| 기다려 주세요)",
    shows: "例|ように|とおり|もし|示し|説明|引用|예를|예시|보여|다음과|설명|인용",
    ofCalls: "呼び出し|形式|例|モデル|出力|構文|以下|호출|형식|예시|모델|출력|구문|다음",
  },
  {
    // Russian
    announces: raw`(?:я|сейчас|сначала) \p{L}+[юу]\b|давай(?:те)?\b`,
    consents: "да|конечно|хорошо|минуту|секунду|одну минуту",
    shows: raw`пример|вызов|вижу|покаж|показ|объясн|привед|цитир|напиш|^если\b|бы\b|не\b`,
    ofCalls: raw`вызов|вызва|пример|формат|модель|синтаксис|строк|следующ|пиш`,
  },
];

/** Compiles one kind of phrase for all languages. `\b` becomes "no letter follows", since JavaScript's own knows only ASCII letters. */
const compiled = (of: keyof Phrases, before: string, after = ""): RegExp => {
  const sources = LANGUAGES.map((phrases) => phrases[of]).join("|");
  return new RegExp(`${before}(?:${sources.replaceAll(raw`\b`, raw`(?!\p{L})`)})${after}`, "iu");
};
const WORD = raw`(?<!\p{Script=Latin}|\p{Script=Cyrillic})`;
const LINK =
  "(?:so|and|now|next|then|first|but|okay|ok|alright|jetzt|nun|dann|zuerst|also|donc|maintenant|ahora|primero|entonces|agora|ora)";

const ANNOUNCES = compiled("announces", raw`(?:^|[,;:.!?—–，；：、-]\s*|^to \p{L}[^,;:]* |(?<!\p{L})${LINK}\s)(?:${LINK},?\s)*`);
const CONSENTS = compiled("consents", raw`^[¡\s]*`, raw`(?:[,，\s]+\p{L}+){0,2}[.!…。！]+$`);
/** Besides the phrases: a question, and a list marker. */
const SHOWS = compiled("shows", raw`\?[)"'”’»]*$|^\s*(?:[-+•]|\d+[.)])$|${WORD}`);
const OF_CALLS = compiled("ofCalls", WORD);
