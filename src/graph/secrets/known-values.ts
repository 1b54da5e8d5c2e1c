/** Finds known secret values in the forms in which programs write them. Pure. */

import type { FindSecrets, TextSpan } from './text-span.ts'

/** Longer than the shortest value that is no word. */
const base64Char = /[\w+/-]/

/**
 * Returns a finder of these values: as they are, and as JSON, URLs, forms, XML, base64 and
 * hexadecimal digits write them. `toText` converts a form into the characters of the text.
 */
export function valueFinder(values: readonly string[],
  toText: (form: string) => string = (form) => form): FindSecrets {
  const plain = unique(values.flatMap(writtenForms).map(toText))
  const encoded = unique(values.flatMap((value) => unique([value, inJson(value)]))
    .flatMap(base64Forms))
  return (text) => [
    ...plain.flatMap((form) => spansOf(text, form)),
    // The characters next to it have bits of the value.
    ...encoded.flatMap((form) => spansOf(text, form).map((span) => widened(text, span))),
  ]
}

function unique(forms: readonly string[]): readonly string[] {
  return [...new Set(forms)]
}

function spansOf(text: string, form: string): readonly TextSpan[] {
  const spans: TextSpan[] = []
  for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + form.length)) {
    spans.push([at, at + form.length])
  }
  return spans
}

function widened(text: string, [from, to]: TextSpan): TextSpan {
  return [from - (base64Char.test(text[from - 1] ?? '') ? 1 : 0),
    to + (base64Char.test(text[to] ?? '') ? 1 : 0)]
}

/** Encodings of a text. Programs apply several, as for JSON in JSON in a URL. */
const writings: readonly ((text: string) => string)[] = [
  inJson,
  (text) => encodeURIComponent(text.toWellFormed()),
  (text) => new URLSearchParams([['', text]]).toString().slice(1),
]

/** Encodings that are applied to each form, one after the other. */
const depthMax = 3

function writtenForms(value: string): readonly string[] {
  const forms = new Set([value, inJson(value), inAsciiJson(value),
    inJson(value).replaceAll('/', '\\/'), inXml(value), inXml(value).replaceAll('"', '&quot;')])
  let newest: readonly string[] = [...forms]
  for (let depth = 0; depth < depthMax; depth++) {
    newest = unique(newest.flatMap(written)).filter((form) => !forms.has(form))
    for (const form of newest) forms.add(form)
  }
  for (const form of [...forms]) forms.add(inLowerCase(form))
  const hex = Buffer.from(value).toString('hex')
  return [...forms, hex, hex.toUpperCase()]
}

function written(text: string): readonly string[] {
  return writings.map((write) => write(text))
}

function inAsciiJson(value: string): string {
  return inJson(value).replace(/[\u0080-\uffff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function inXml(value: string): string {
  return value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function inJson(value: string): string {
  return JSON.stringify(value).slice(1, -1)
}

function inLowerCase(url: string): string {
  return url.replace(/%[\dA-F]{2}/g, (digits) => digits.toLowerCase())
}

/**
 * The characters of base64 that depend on the value alone, for each position that its first byte
 * may have among three.
 */
function base64Forms(value: string): readonly string[] {
  return [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(value)])
    const own = bytes.toString('base64')
      .slice(Math.ceil(before * 8 / 6), Math.floor(bytes.byteLength * 8 / 6))
    const url = encodeURIComponent(own)
    return [own, own.replaceAll('+', '-').replaceAll('/', '_'), url, inLowerCase(url),
      encodeURIComponent(url), own.replaceAll('/', '\\/')]
  })
}
