/**
 * Feedback on spans that are not known yet, and spans whose project is not known yet. Clients send
 * feedback while its span is still on its way. Whoever writes feedback notes it here and then looks
 * for the span; whoever writes a span then looks here. So one of the two finds the other, and gives
 * the span its mark.
 */

import { bytesOfUuid, uuidOfBytes } from '../../../platform/index.ts'
import type { SpanPlace, Uuid } from '../../../platform/index.ts'
import type { Connection } from '../driver/connection.ts'
import { forEachLimit } from '../driver/for-each-limit.ts'
import { idMinute } from './rows/partition-key.ts'

/** Ids that one statement asks for, statements at a time, and rows that are read at a time. */
const [idsOfRead, readsAtOnce, page] = [100, 16, 1_000]
/** Seconds that feedback waits for its span. */
const waitsS = 24 * 60 * 60

/** A piece of feedback that waits. */
export interface Waiting {
  readonly span: Uuid
  readonly id: Uuid
}

/** A span that was moved to a project, and whose end may not be noted there. */
export interface Move {
  readonly span: Uuid
  readonly project: Uuid
}

/** A span in a project that no operation named, which waits for an operation that names one. */
export interface Guess extends Move {
  /** Its start and trace there: an operation that names this project replaces its location. */
  readonly at: Pick<SpanPlace, 'startUs' | 'trace' | 'traceStartUs'>
}

/** Notes about spans. */
export interface WaitingNotes {
  readonly feedback: readonly Waiting[]
  readonly guesses: readonly Guess[]
  readonly moves: readonly Move[]
}

/** Follows the project in the id of a note, so that it is not the id of feedback. */
const [guessMark, moveMark] = [Buffer.from('g'), Buffer.from('m')]
const [idBytes, timeBytes] = [16, 8]
/** Bytes that follow the project of a guess: its mark, the starts and the trace. */
const guessBytes = guessMark.length + 2 * timeBytes + idBytes
/** Seconds that a guess waits, and a move that is not confirmed. */
const guessWaitsS = 14 * 24 * 60 * 60

/** Notes which feedback waits for which span. */
export class WaitingFeedback {
  readonly #connection: Connection
  readonly #table: string

  constructor(connection: Connection) {
    this.#connection = connection
    this.#table = `${connection.keyspace}.feedback_waiting`
  }

  async add(tenant: string, { span, id }: Waiting): Promise<void> {
    await this.#put(tenant, span, bytesOfUuid(id), waitsS)
  }

  async addGuess(tenant: string, guess: Guess): Promise<void> {
    await this.#put(tenant, guess.span, idOfGuess(guess), guessWaitsS)
  }

  async addMove(tenant: string, move: Move): Promise<void> {
    await this.#put(tenant, move.span, idOfMove(move), guessWaitsS)
  }

  /** Notes that wait for any of these spans. */
  async for(tenant: string, spans: Iterable<Uuid>): Promise<WaitingNotes> {
    const [feedback, guesses, moves]: [Waiting[], Guess[], Move[]] = [[], [], []]
    const reads = [...Map.groupBy(new Set(spans), idMinute)].flatMap(([minute, all]) =>
      Array.from({ length: Math.ceil(all.length / idsOfRead) },
        (_, index) => ({ minute, ids: all.slice(index * idsOfRead, (index + 1) * idsOfRead) }))
    )
    await forEachLimit(readsAtOnce, reads, async ({ minute, ids }) => {
      const statement = {
        cql: `SELECT span_id, id FROM ${this.#table} ` +
          'WHERE tenant = ? AND minute = ? AND span_id IN ?',
        values: [tenant, minute, ids.map(bytesOfUuid)],
      }
      for await (const rows of this.#connection.pages(statement, page)) {
        for (const row of rows) {
          const [span, id] = [uuidOfBytes(row['span_id']), uuidOfBytes(row['id'])]
          const mark = row['id'].subarray(idBytes)
          if (mark.length === guessBytes) guesses.push({ span, project: id, at: placeIn(mark) })
          else if (mark.equals(moveMark)) moves.push({ span, project: id })
          else feedback.push({ span, id })
        }
      }
    })
    return { feedback, guesses, moves }
  }

  async remove(tenant: string, { span, id }: Waiting): Promise<void> {
    await this.#delete(tenant, span, bytesOfUuid(id))
  }

  async removeGuess(tenant: string, guess: Guess): Promise<void> {
    await this.#delete(tenant, guess.span, idOfGuess(guess))
  }

  async removeMove(tenant: string, move: Move): Promise<void> {
    await this.#delete(tenant, move.span, idOfMove(move))
  }

  async #put(tenant: string, span: Uuid, id: Buffer, liveS: number): Promise<void> {
    await this.#connection.repeatableBatch([{
      cql: `UPDATE ${this.#table} USING TTL ? SET present = true ` +
        'WHERE tenant = ? AND minute = ? AND span_id = ? AND id = ?',
      values: [liveS, tenant, idMinute(span), bytesOfUuid(span), id],
    }])
  }

  async #delete(tenant: string, span: Uuid, id: Buffer): Promise<void> {
    await this.#connection.repeatableBatch([{
      cql: `DELETE FROM ${this.#table} ` +
        'WHERE tenant = ? AND minute = ? AND span_id = ? AND id = ?',
      values: [tenant, idMinute(span), bytesOfUuid(span), id],
    }])
  }
}

function idOfMove({ project }: Move): Buffer {
  return Buffer.concat([bytesOfUuid(project), moveMark])
}

function idOfGuess({ project, at: { startUs, trace, traceStartUs } }: Guess): Buffer {
  const [start, traceStart] = [startUs, traceStartUs].map((us) => {
    const bytes = Buffer.alloc(timeBytes)
    bytes.writeBigInt64BE(BigInt(us))
    return bytes
  })
  return Buffer.concat([bytesOfUuid(project), guessMark, start!, traceStart!, bytesOfUuid(trace)])
}

function placeIn(mark: Buffer): Guess['at'] {
  const [start, traceStart] = [guessMark.length, guessMark.length + timeBytes]
  return { startUs: Number(mark.readBigInt64BE(start)),
    traceStartUs: Number(mark.readBigInt64BE(traceStart)),
    trace: uuidOfBytes(mark.subarray(traceStart + timeBytes)) }
}
