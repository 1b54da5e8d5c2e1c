/** The project's own redaction of what recordings store: `heddle.mask` of langgraph.json. */

import { isUtf8 } from 'node:buffer'

import { atLatest } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'
import { callingFreely } from '../calls/call-scope.ts'
import { placeIn } from '../project/code-place.ts'
import type { EmbeddingEntry } from '../project/project-compiler.ts'
import { messageOf } from '../project/thrown.ts'

/** A text that is about to be stored, as the function of the project gets it. */
export interface MaskedPart {
  /** `run`: JSON of the input, configuration or result of a stateless run. */
  readonly kind: 'url' | 'request' | 'response' | 'error' | 'run'
  /** Empty for a run. */
  readonly method: string
  readonly url: string
  /** `base64` for a body that is not UTF-8. The result has the same encoding. */
  readonly encoding: 'utf8' | 'base64'
}

/** Returns the text to store. Throws if the function of the project does not return one. */
export type MaskText = (text: string, part: Omit<MaskedPart, 'encoding'>) => Promise<string>

/** Redacts texts with user code. Lives in a worker. */
export interface Mask {
  readonly text: MaskText
  /** Redacts a body. Its chunks stay as they are if its length does. */
  chunks(chunks: readonly Uint8Array[],
    part: Omit<MaskedPart, 'encoding'>): Promise<readonly Uint8Array[]>
}

type MaskFunction = (text: string, part: MaskedPart) => unknown

/** Milliseconds that one call of the function may take. */
const callMs = 5_000
/** Characters that a result may have beyond twice its text. */
const addedMax = 1024 * 1024

/** Loads the function. Throws `graph_failed` if its file does not export one. */
export async function openMask(root: string, { url, exportName, failure }: EmbeddingEntry,
  env: Pick<Env, 'after'>): Promise<Mask> {
  try {
    if (failure !== null) throw new Error(failure)
    const module = await import(url) as Readonly<Record<string, unknown>>
    const found = await module[exportName]
    if (isMaskFunction(found)) return maskWith(found, env)
    throw new Error(`its file does not export "${exportName}" as a function (text, part) => text`)
  } catch (error) {
    const at = placeIn(root, error)
    throw new HeddleError('graph_failed', `heddle.mask could not be loaded` +
      `${at === undefined ? '' : ` (${at})`}: ${messageOf(error)}`, {}, { cause: error })
  }
}

/** Returns the mask of a function. */
export function maskWith(mask: MaskFunction, env: Pick<Env, 'after'>): Mask {
  const masked = async (text: string, part: MaskedPart): Promise<string> => {
    // Its own calls are not recorded with the run.
    const result = await atLatest(env, callMs,
      callingFreely(async () => await mask(text, Object.freeze(part))))
    if (typeof result !== 'string') throw new TypeError('heddle.mask did not return a string.')
    if (result.length > 2 * text.length + addedMax) throw new RangeError('A text is too long.')
    return result
  }
  return {
    text: (text, part) => masked(text, { ...part, encoding: 'utf8' }),
    chunks: async (chunks, part) => {
      const body = Buffer.concat(chunks)
      if (body.byteLength === 0) return chunks
      const encoding = isUtf8(body) ? 'utf8' : 'base64'
      const text = body.toString(encoding)
      const result = await masked(text, { ...part, encoding })
      return result === text ? chunks : likeBefore(Buffer.from(result, encoding), chunks)
    },
  }
}

function likeBefore(body: Uint8Array, chunks: readonly Uint8Array[]): readonly Uint8Array[] {
  const bytes = chunks.reduce((sum, { byteLength }) => sum + byteLength, 0)
  if (bytes !== body.byteLength) return [body]
  let at = 0
  return chunks.map(({ byteLength }) => body.subarray(at, at += byteLength))
}

function isMaskFunction(value: unknown): value is MaskFunction {
  return typeof value === 'function'
}
