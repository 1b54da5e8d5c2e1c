/** The index of one member, as a service for other members. */

import type { Service, ValueCodec } from '../../cluster/index.ts'
import { IndexAnswer as AnswerMessage } from '../../proto/gen/search/v1/index.ts'
import type { AssistantRow, CronRow, ThreadRow } from '../../proto/gen/storage/v1/row.ts'
import { rawValues } from '../json/index.ts'
import type { IndexAnswer, IndexQuestion, OwnIndex } from './index-question.ts'
import type { FoundItem } from './item-index.ts'

/** Questions are plain data. Answers are rows, encoded as they are stored. */
const values: ValueCodec = {
  encode: (value) => (isAnswer(value)
    ? Buffer.concat([answerMark, encodeAnswer(value)])
    : Buffer.concat([questionMark, rawValues.encode(value)])),
  decode: (bytes) => (bytes[0] === answerMark[0]
    ? decodeAnswer(bytes.subarray(1))
    : rawValues.decode(bytes.subarray(1))),
}

const questionMark = Uint8Array.of(0)
const answerMark = Uint8Array.of(1)

/** The name of the service, and the codec of its questions and answers. */
export const indexWire = { name: 'index', wire: { values } } as const

/** The service of one member, which others and itself ask. */
export function indexService(own: OwnIndex): Service<IndexQuestion, IndexAnswer> {
  return { ...indexWire, answer: (question) => own.answer(question) }
}

function isAnswer(value: unknown): value is IndexAnswer {
  return typeof value === 'object' && value !== null && 'covered' in value
}

function encodeAnswer(
  { rows, total, covered, use, namespaces = [] }: IndexAnswer,
): Uint8Array {
  const items = rows.filter((row): row is FoundItem => 'row' in row)
  // A cron names an assistant and a thread as well.
  const crons = rows.filter((row): row is CronRow => 'cronId' in row)
  const others = rows.filter((row): row is ThreadRow | AssistantRow =>
    !('cronId' in row || 'row' in row)
  )
  const threads = others.filter((row) => 'threadId' in row)
  const assistants = others.filter((row) => 'assistantId' in row)
  return AnswerMessage.encode({ threads, assistants, crons, items, total, use,
    covered: [...covered], namespaces: namespaces.map((labels) => ({ labels: [...labels] })) })
    .finish()
}

function decodeAnswer(bytes: Uint8Array): IndexAnswer {
  const { threads, assistants, crons, items, total, covered, use, namespaces } = AnswerMessage
    .decode(bytes)
  const found = items.flatMap(({ row, score }) => (row ? [{ row, score }] : []))
  // Only one of the lists has rows.
  const rows = [...threads, ...assistants, ...crons, ...found]
  return { rows, total, covered, use, namespaces: namespaces.map(({ labels }) => labels) }
}
