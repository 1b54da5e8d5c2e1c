/** Code in words of a few kinds, for its colours. It guesses: a language is known by its signs. */

/** Kind of a word; `plain` is everything without a colour. */
export type CodeKind = 'plain' | 'comment' | 'text' | 'number' | 'keyword' | 'tag'

/** A piece of code, as it was written. */
export interface CodeWord {
  readonly kind: CodeKind
  readonly text: string
}

/** Code that is longer has no colours. */
const longest = 30_000

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))

const common =
  'if else for while do switch case default break continue return try catch finally throw ' +
  'new in of true false null this class extends import from const let var function async ' +
  'await static void public private protected interface enum struct type'
const braces = words(
  `${common} export implements readonly typeof instanceof yield delete undefined ` +
    'as is keyof declare namespace abstract get set super package func go chan map range ' +
    'defer select nil string int bool float double char long short unsigned sizeof using ' +
    'template virtual override final throws fn impl trait pub mut match use mod crate self ' +
    'Self where loop move ref dyn val fun when object companion guard protocol extension ' +
    'foreach echo',
)
const script = words(
  `${common} def elif except raise with as pass lambda None True False and or not ` +
    'is global nonlocal yield assert del self then fi done esac function local export echo ' +
    'exit end begin module require unless until nil elsif rescue ensure print set unset ' +
    'source',
)
const query = words(
  'select from where and or not null insert into values update set delete create table ' +
    'index view drop alter add primary key foreign references join left right inner outer ' +
    'full on as group by order having limit offset union all distinct case when then else ' +
    'end exists in like between is count sum min max avg with returning default constraint ' +
    'unique check if',
)
const values = words('true false null yes no on off')

const number = String.raw`\b\d[\w.]*`
const name = String.raw`[A-Za-z_$][\w$]*`
const quoted = String.raw`"(?:\\[^]|[^"\\\n])*"?|'(?:\\[^]|[^'\\\n])*'?`
const signs = {
  braces: { keywords: braces, comment: String.raw`\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)`,
    text: `${quoted}|${'`'}(?:\\\\[^]|[^${'`'}\\\\])*${'`'}?` },
  script: { keywords: script, comment: String.raw`#[^\n]*`,
    text: `"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|${quoted}` },
  query: { keywords: query, comment: String.raw`--[^\n]*|\/\*[^]*?(?:\*\/|$)`, text: quoted },
  values: { keywords: values, comment: String.raw`#[^\n]*|\/\/[^\n]*`, text: quoted },
  markup: { keywords: words(''), comment: String.raw`<!--[^]*?(?:-->|$)`, text: quoted },
} as const

/** The signs of a language, by the names that people write behind the fence. */
const languages: Readonly<Record<string, keyof typeof signs>> = Object.fromEntries([
  ...'js jsx ts tsx javascript typescript mjs cjs java c h cpp c++ cs csharp go rust rs kotlin kt'
    .split(' ').map((each) => [each, 'braces'] as const),
  ...'swift php scala dart css scss less proto graphql'.split(' ')
    .map((each) => [each, 'braces'] as const),
  ...'py python sh bash zsh shell console rb ruby dockerfile makefile perl r elixir'.split(' ')
    .map((each) => [each, 'script'] as const),
  ...'sql postgres postgresql mysql sqlite cql lua haskell'.split(' ')
    .map((each) => [each, 'query'] as const),
  ...'json jsonc json5 yaml yml toml ini env'.split(' ').map((each) => [each, 'values'] as const),
  ...'html xml svg vue svelte jsp'.split(' ').map((each) => [each, 'markup'] as const),
])

/** The words of code in a language; undefined where nothing is known of it, or it is too long. */
export function codeWords(code: string, language: string): readonly CodeWord[] | undefined {
  const kind = language.toLowerCase()
  if (code.length > longest || !Object.hasOwn(languages, kind)) return undefined
  const family = languages[kind]!
  const { keywords, comment, text } = signs[family]
  const tag = family === 'markup' ? String.raw`<\/?[\w:.-]+|\/?>` : '(?!)'
  const pattern = new RegExp(
    `(?<comment>${comment})|(?<text>${text})|(?<number>${number})|(?<tag>${tag})|(?<name>${name})`,
    'g',
  )
  const found: CodeWord[] = []
  let from = 0
  for (const match of code.matchAll(pattern)) {
    const [word] = match
    const kindOfWord = (['comment', 'text', 'number', 'tag'] as const)
      .find((each) => match.groups![each] !== undefined) ??
      (keywords.has(family === 'query' ? word.toLowerCase() : word) ? 'keyword' : 'plain')
    if (kindOfWord === 'plain') continue
    if (match.index > from) found.push({ kind: 'plain', text: code.slice(from, match.index) })
    found.push({ kind: kindOfWord, text: word })
    from = match.index + word.length
  }
  if (from < code.length) found.push({ kind: 'plain', text: code.slice(from) })
  return found
}
