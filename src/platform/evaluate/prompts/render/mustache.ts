/**
 * Renders mustache templates as mustache.js does without escaping: variables, sections, inverted
 * sections, comments and other delimiters. Only own members of values are found. Pure.
 */

import { HeddleError } from '../../../../errors.ts'
import { isObject } from '../../../../json/index.ts'
import { tooLong } from './room.ts'
import type { RenderBudget } from './room.ts'

/** A part of a template. */
export type MustacheNode =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'section' | 'inverted'; readonly name: string;
    readonly inner: readonly MustacheNode[] }

/** A tag, or a character between tags, as it is read. */
type Token = { readonly kind: 'text' | 'name' | 'section' | 'inverted' | 'end' | 'none';
  readonly text: string }

/** Sections in each other: a name is looked for in the values of all of them. */
const depthMax = 100
/** Characters of a name that cost as much as a node: each of its steps is looked for. */
const charactersOfVisit = 16

const kinds = { '#': 'section', '^': 'inverted', '/': 'end', '&': 'name', '{': 'name', '!': 'none',
  '=': 'none', '>': 'none' } as const

/** The parts of a template. Throws `invalid`. */
export function mustacheNodes(template: string): readonly MustacheNode[] {
  return nested(tokensOf(template))
}

/** The text. Values are those of the first view that has them. Throws `invalid`. */
export function renderMustache(template: string,
  views: readonly Readonly<Record<string, unknown>>[], room: RenderBudget): string {
  return rendered(mustacheNodes(template), views, room)
}

function rendered(nodes: readonly MustacheNode[], views: readonly unknown[],
  room: RenderBudget): string {
  let text = ''
  for (const node of nodes) {
    room.visit(1)
    text += node.kind === 'text' ? room.take(node.text) : ofNode(node, views, room)
  }
  return text
}

function ofNode(node: Exclude<MustacheNode, { kind: 'text' }>, views: readonly unknown[],
  room: RenderBudget): string {
  room.visit(Math.floor(node.name.length / charactersOfVisit))
  const value = found(node.name, views)
  switch (node.kind) {
    case 'name':
      return value === undefined || value === null ? '' : room.take(textOfValue(value, room))
    case 'inverted':
      return !value || Array.isArray(value) && value.length === 0
        ? rendered(node.inner, views, room)
        : ''
    case 'section':
      if (!value) return ''
      if (Array.isArray(value)) {
        return value.map((each: unknown) => rendered(node.inner, [each, ...views], room)).join('')
      }
      return rendered(node.inner, value === true ? views : [value, ...views], room)
  }
}

/** As a text and a value are added to each other. */
function textOfValue(value: unknown, room: RenderBudget): string {
  if (Array.isArray(value) && value.length > room.characters) throw tooLong()
  try {
    return typeof value === 'object' && value !== null
      ? room.textOf(value, () => String(value))
      : String(value)
  } catch {
    // It has a member of the name `toString`.
    throw new HeddleError('invalid', 'A value of the template is an object that is no text.')
  }
}

/** The value of a name in the innermost view that has it. */
function found(name: string, views: readonly unknown[]): unknown {
  if (name === '.') return views[0]
  const path = name.indexOf('.') > 0 ? name.split('.') : undefined
  for (const view of views) {
    if (path === undefined) {
      if (hasOwn(view, name)) return view[name]
      continue
    }
    let [value, hit]: [unknown, boolean] = [view, false]
    for (const [at, step] of path.entries()) {
      if (value === undefined || value === null) break
      const own = hasOwn(value, step) || typeof value === 'string' && step === 'length'
      if (at === path.length - 1) hit = own
      value = own ? (value as Readonly<Record<string, unknown>>)[step] : undefined
    }
    if (hit) return value
  }
  return undefined
}

function hasOwn(view: unknown, name: string): view is Readonly<Record<string, unknown>> {
  return (isObject(view) || Array.isArray(view)) && Object.hasOwn(view, name)
}

/** Tags and the characters between them. Lines with nothing but a tag of structure are dropped. */
function tokensOf(template: string): readonly Token[] {
  const tokens: (Token | undefined)[] = []
  /** Token indices of the blanks of this line; whether it has a tag, and whether it has more. */
  let line = { blanks: [] as number[], hasTag: false, hasMore: false }
  const endLine = () => {
    if (line.hasTag && !line.hasMore) { for (const at of line.blanks) tokens[at] = undefined }
    line = { blanks: [], hasTag: false, hasMore: false }
  }
  let delimiters: Delimiters = { open: '{{', close: '}}' }
  let at = 0
  while (at < template.length) {
    const [open, from] = opening(delimiters.open, template, at)
    for (const character of template.slice(at, open).split('')) {
      if (/\S/.test(character)) line.hasMore = true
      else line.blanks.push(tokens.length)
      tokens.push({ kind: 'text', text: character })
      if (character === '\n') endLine()
    }
    if (open === template.length) break
    line.hasTag = true
    const { token, to, changed } = tagAt(template, from, delimiters)
    tokens.push(token)
    if (token.kind === 'name') line.hasMore = true
    if (changed) delimiters = changed
    at = to
  }
  endLine()
  return tokens.filter((token) => token !== undefined)
}

/** Texts that open and close a tag, by default `{{` and `}}`. */
interface Delimiters {
  readonly open: string
  readonly close: string
}

/** Index of the first such text, and of what follows it and blanks; the end without one. */
function opening(open: string, template: string, from: number): readonly [number, number] {
  const at = template.indexOf(open, from)
  if (at === -1) return [template.length, template.length]
  let to = at + open.length
  while (isBlank(template[to])) to++
  return [at, to]
}

/** Index of the blanks before the first such text, and of its end; the end without one. */
function closing(close: string, template: string, from: number): readonly [number, number] {
  const at = template.indexOf(close, from)
  if (at === -1) return [template.length, template.length]
  let begin = at
  while (begin > from && isBlank(template[begin - 1])) begin--
  return [begin, at + close.length]
}

function isBlank(character: string | undefined): boolean {
  return character !== undefined && /\s/.test(character)
}

/** The tag whose inside begins at `from`. */
function tagAt(template: string, from: number, { close }: Delimiters): {
  readonly token: Token
  readonly to: number
  readonly changed?: Delimiters
} {
  const sign = template[from] ?? ''
  const kind = Object.hasOwn(kinds, sign) ? kinds[sign as keyof typeof kinds] : 'name'
  let begin = Object.hasOwn(kinds, sign) ? from + 1 : from
  while (isBlank(template[begin])) begin++
  const [end, to] = closing(sign === '{' ? `}${close}` : close, template, begin)
  if (end === template.length) throw unclosed('A tag')
  const name = template.slice(begin, end)
  if (sign !== '=') return { token: { kind, text: name }, to }
  const [first, second, ...more] = name.split('=')[0]!.trim().split(/\s+/)
  if (!first || !second || more.length > 0) {
    throw new HeddleError('invalid', 'The template changes its delimiters to something else than ' +
      'two of them.')
  }
  return { token: { kind, text: name }, to, changed: { open: first, close: second } }
}

/** Sections with what is in them. Texts beside each other are one. */
function nested(tokens: readonly Token[]): readonly MustacheNode[] {
  const root: MustacheNode[] = []
  const open: { readonly name: string; readonly nodes: MustacheNode[] }[] = []
  let nodes = root
  let text = ''
  const endText = () => {
    if (text !== '') nodes.push({ kind: 'text', text })
    text = ''
  }
  for (const token of tokens) {
    if (token.kind === 'text') {
      text += token.text
      continue
    }
    endText()
    if (token.kind === 'name') nodes.push({ kind: 'name', name: token.text })
    if (token.kind === 'section' || token.kind === 'inverted') {
      const inner: MustacheNode[] = []
      nodes.push({ kind: token.kind, name: token.text, inner })
      if (open.length === depthMax) throw tooDeep()
      open.push({ name: token.text, nodes })
      nodes = inner
    }
    if (token.kind === 'end') {
      const section = open.pop()
      if (section?.name !== token.text) throw unclosed(`The section ${JSON.stringify(token.text)}`)
      nodes = section.nodes
    }
  }
  endText()
  if (open.length > 0) throw unclosed(`The section ${JSON.stringify(open.at(-1)!.name)}`)
  return root
}

function unclosed(what: string): HeddleError {
  return new HeddleError('invalid', `${what} of the template has no end, or no beginning.`)
}

function tooDeep(): HeddleError {
  return new HeddleError('invalid', `A template may have ${depthMax} sections in each other.`)
}
