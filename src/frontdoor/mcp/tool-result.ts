/** Results of runs as results of tools. */

import type { JsonText } from '../../checkpoint/index.ts'
import { objectOf } from '../../json/index.ts'
import type { LongJson } from '../../json/index.ts'
import { questionsOf } from './questions/index.ts'
import type { Question } from './questions/index.ts'

/** The graph waits for an answer. `failure`: why the answer before had no effect. */
export interface AskingOutcome {
  readonly kind: 'asks'
  readonly questions: readonly Question[]
  readonly failure?: string | undefined
}

/**
 * over  the run has ended, well or not
 * asks  it waits for an answer
 */
export type Outcome =
  | { readonly kind: 'over'; readonly failure: string | undefined }
  | AskingOutcome

/** Returns the outcome in the result of a run. A long result is read in another thread. */
export async function outcomeOf(json: LongJson, tenant: string, text: JsonText): Promise<Outcome> {
  if (text.startsWith('{"__error__":')) {
    const [error = 'null'] = await json.pick(tenant, text, [['__error__']])
    const { error: name, message } = objectOf(JSON.parse(error))
    return { kind: 'over', failure: String(message || name || 'The run has failed.') }
  }
  // A text in the state may say the same, so this only finds out where a look is worth it.
  if (!text.includes('"__interrupt__":')) return { kind: 'over', failure: undefined }
  const [asked = 'null'] = await json.pick(tenant, text, [['__interrupt__']])
  const questions = questionsOf(JSON.parse(asked))
  return questions.length === 0 ? { kind: 'over', failure: undefined } : { kind: 'asks', questions }
}

/** Members of a result beside its content. */
export type ResultMembers = Readonly<Record<string, unknown>>

/** The result of a tool whose run has ended well: the state, as text and as a value. */
export function goodResult(text: JsonText, members: ResultMembers): JsonText {
  const content = `"content":[{"type":"text","text":${JSON.stringify(text)}}]`
  const structured = text.startsWith('{') ? `,"structuredContent":${text}` : ''
  return withMembers(`{${content}${structured}`, members)
}

/** The result of a tool that could not do its work: a model reads why. */
export function badResult(message: string, members: ResultMembers): JsonText {
  const content = JSON.stringify([{ type: 'text', text: message }])
  return withMembers(`{"content":${content},"isError":true`, members)
}

function withMembers(open: string, members: ResultMembers): JsonText {
  const more = JSON.stringify(members).slice(1)
  return more === '}' ? `${open}}` : `${open},${more}`
}
