/** Bodies of tracing clients, as they write them. */

/** Members of an operation that clients send as parts of their own. */
const apart = ['inputs', 'outputs', 'events', 'extra', 'error', 'serialized']

/** What a client says of a span. */
export type ClientRun = Readonly<Record<string, unknown>> & { readonly id: string }

/** One operation of a client. */
export interface ClientOperation {
  readonly kind: 'post' | 'patch'
  readonly run: ClientRun
}

/** A part: its name, its media type and its bytes. */
export type ClientPart = readonly [name: string, type: string, data: Buffer]

/** The parts of operations: the run, then its long members. */
export function partsOfRuns(operations: readonly ClientOperation[]): ClientPart[] {
  return operations.flatMap(({ kind, run }) => {
    const here = Object.entries(run).filter(([name]) => !apart.includes(name))
    const parts = Object.entries(run).filter(([name, value]) =>
      apart.includes(name) && value !== undefined
    )
    const json = (name: string,
      value: unknown): ClientPart => [name, 'application/json', Buffer.from(JSON.stringify(value))]
    return [json(`${kind}.${run.id}`, Object.fromEntries(here)),
      ...parts.map(([name, value]) => json(`${kind}.${run.id}.${name}`, value))]
  })
}

/** A body and its content type. */
export interface ClientBody {
  readonly body: Buffer
  readonly contentType: string
}

/** A multipart body in the way of a client. */
export function multipartOf(parts: readonly ClientPart[],
  style: 'js' | 'python' | 'lengthless' = 'js'): ClientBody {
  const boundary = style === 'python'
    ? '3f1d2c0b9a8e7d6c5b4a39281706f5e4'
    : '----LangSmithFormBoundarya1b2c3d4e5'
  const pieces = parts.flatMap(([name, type, data]) => [
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n` +
      `Content-Type: ${type}${style === 'js' ? `; length=${data.length}` : ''}\r\n` +
      `${style === 'python' ? `Content-Length: ${data.length}\r\n` : ''}\r\n`),
    data,
    Buffer.from('\r\n'),
  ])
  return { body: Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]),
    contentType: `multipart/form-data; boundary=${boundary}` }
}
