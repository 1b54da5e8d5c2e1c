/** Renders templates of Python's form: `{name}`, and `{{` and `}}` for braces. Pure. */

import { HeddleError } from '../../../../errors.ts'
import type { RenderBudget } from './room.ts'

type Part = { readonly text: string } | { readonly name: string }

/** The names in a template, each once. Throws `invalid`. */
export function fStringNames(template: string): readonly string[] {
  return [...new Set(partsOf(template).flatMap((part) => 'name' in part ? [part.name] : []))]
}

/** The text. What is no text is put in as JSON. Throws `invalid` if one is missing. */
export function renderFString(template: string, views: readonly Readonly<Record<string, unknown>>[],
  room: RenderBudget): string {
  return partsOf(template).map((part) => {
    if ('text' in part) return room.take(part.text)
    const values = views.find((each) => Object.hasOwn(each, part.name))
    if (values === undefined) throw missing(part.name)
    return room.take(textOfValue(values[part.name], room))
  }).join('')
}

function textOfValue(value: unknown, room: RenderBudget): string {
  if (typeof value === 'string') return value
  const text = () => String(JSON.stringify(value))
  return typeof value === 'object' && value !== null ? room.textOf(value, text) : text()
}

/** The error for a variable without a value. */
export function missing(name: string): HeddleError {
  return new HeddleError('invalid', `The prompt needs a value for ${JSON.stringify(name)}.`)
}

function partsOf(template: string): readonly Part[] {
  const parts: Part[] = []
  let at = 0
  while (at < template.length) {
    const two = template.slice(at, at + 2)
    if (two === '{{' || two === '}}') {
      parts.push({ text: two[0]! })
      at += 2
    } else if (two.startsWith('{')) {
      const end = template.indexOf('}', at)
      if (end < 0) throw new HeddleError('invalid', 'A brace of the template is not closed.')
      parts.push({ name: template.slice(at + 1, end) })
      at = end + 1
    } else if (two.startsWith('}')) {
      throw new HeddleError('invalid', 'The template has a } without a { before it.')
    } else {
      const rest = template.slice(at).search(/[{}]/)
      const end = rest < 0 ? template.length : at + rest
      parts.push({ text: template.slice(at, end) })
      at = end
    }
  }
  return parts
}
