/** Examples in multipart bodies: `<id>`, `<id>.inputs`, `<id>.attachment.<name>` and so on. */

import { HeddleError } from '../../../errors.ts'
import { isObject, jsonIn } from '../../../json/index.ts'
import { boundaryOf, partsOf } from '../../ingest/body/multipart.ts'
import { readUuid } from '../../../uuid-bytes.ts'
import { exampleIn, keptIn, readable } from './example-body.ts'
import type { SentExample } from './example-body.ts'
import type { ExampleInput, SentFile } from './sent/example-edit.ts'

/** Bytes of an attachment. */
const fileBytesMax = 20 * 1024 * 1024
/** Parts of a body, and characters of the name of an attachment. */
const [partsMax, nameMax] = [20_000, 500]

interface OpenExample {
  said: ExampleInput
  readonly files: SentFile[]
}

/** The examples of a body in the order of their first parts. Throws `malformed` or `too_large`. */
export function examplesInParts(body: Buffer, contentType: string): readonly SentExample[] {
  const open = new Map<string, OpenExample>()
  let parts = 0
  for (const { name, type, data } of partsOf(body, boundaryOf(contentType))) {
    if (++parts > partsMax) throw new HeddleError('too_large', `A body may have ${partsMax} parts.`)
    if (data === null) throw new HeddleError('malformed', 'The body ends before its end.')
    const [id = '', member = ''] = name.split('.', 2)
    const known = readUuid(id)
    if (known === undefined) {
      throw new HeddleError('invalid', 'The name of a part begins with the UUID of an example.')
    }
    const example: OpenExample = open.get(known) ?? { said: {}, files: [] }
    open.set(known, example)
    if (member === 'attachment') {
      example.files.push(fileOf(name.slice(id.length + '.attachment.'.length), type, data))
    } else {
      example.said = { ...example.said, ...saidBy(member, data) }
    }
  }
  return [...open].map(([id, { said, files }]) => ({ id, dataset: null,
    said: { ...said, ...files.length > 0 && { files } } })
  )
}

function saidBy(member: string, data: Buffer): ExampleInput {
  switch (member) {
    case '':
      return exampleIn(data).said
    case 'inputs':
      return { inputs: Buffer.from(readable(() => jsonIn(data))) }
    case 'outputs': {
      const outputs = Buffer.from(readable(() => jsonIn(data)))
      return { outputs: outputs.toString('latin1') === 'null' ? null : outputs }
    }
    case 'attachments_operations': {
      const value = readable(() => JSON.parse(data.toString()) as unknown)
      return isObject(value) ? { kept: keptIn(value) } : {}
    }
    default:
      throw new HeddleError('invalid', `There is no part <id>.${member}.`)
  }
}

function fileOf(name: string, type: string, data: Buffer): SentFile {
  if (name === '' || name.length > nameMax) {
    throw new HeddleError('invalid', `The name of an attachment has 1 to ${nameMax} characters.`)
  }
  if (data.length > fileBytesMax) {
    throw new HeddleError('too_large', `An attachment may have ${fileBytesMax / 1024 / 1024} MiB.`)
  }
  return { name, type: type === '' ? 'application/octet-stream' : type, data }
}
