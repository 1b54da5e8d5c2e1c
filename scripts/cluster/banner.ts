/** Reads the addresses of a member, or why it did not start, from its output. */

/** What a member prints about itself. */
export interface Banner {
  /** The URL of its front door. */
  readonly http: string
  /** Id of the member, new at each start. */
  readonly session: string
  /** Where other members reach it: host:port. */
  readonly grpc: string
}

/**
 * Reads the lines that it prints at its start, as JSON or for people; undefined until all of it is
 * there.
 */
export function bannerIn(output: string): Banner | undefined {
  const plain = output.replaceAll(/\x1b\[\d*m/g, '')
  const ready = plain.split('\n').slice(0, -1).find((line) => line.includes('"Heddle is ready."'))
  const { url, member } = JSON.parse(ready ?? '{}') as { url?: string; member?: string }
  const http = url ?? /serves at (http:\/\/\S+)\n/.exec(plain)?.[1]
  const [, session, grpc] = /^(\S+) at (\S+)$/.exec(member ?? '') ??
    /^\s*member\s+(\S+) at (\S+)\n/m.exec(plain) ?? []
  return http && session && grpc ? { http, session, grpc } : undefined
}

/** Why a member did not start: its last sentence, or otherwise its last line. */
export function refusalIn(output: string): string {
  const lines = output.trim().split('\n')
  const message = lines.findLast((line) => line.startsWith('heddle: '))
  return message?.replace('heddle: ', '') ?? lines.at(-1) ?? ''
}
