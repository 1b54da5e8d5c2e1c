/** Links with which anybody may give feedback on a run. */

import type { Env } from '../../../cluster/index.ts'
import { tokenOf, tokenText } from '../../platform/index.ts'
import type { Platform } from '../../platform/index.ts'

/** Parts with which links are made: the store of their tokens, and the environment. */
export interface FeedbackLinkMaking {
  readonly platform: { readonly ingest: Pick<Platform['ingest'], 'putFeedbackToken'> }
  readonly env: Pick<Env, 'nowMs' | 'uuid7' | 'secret' | 'log'>
}

/** A run, and the kinds of feedback that may be given on it. */
export interface FeedbackLinkRequest {
  readonly tenant: string
  readonly runId: string
  readonly keys: readonly string[]
  /** The URL below which clients find the platform. */
  readonly root: string
}

/** Makes a link for each key. Resolves with undefined if they cannot be kept now. */
export type MakeFeedbackLinks = (
  options: FeedbackLinkRequest,
) => Promise<Readonly<Record<string, string>> | undefined>

/** Links whose tokens are kept by the platform. */
export function feedbackLinks({ platform, env }: FeedbackLinkMaking): MakeFeedbackLinks {
  return async ({ tenant, runId, keys, root }) => {
    const linkFor = async (key: string) => {
      const secret = tokenText(env.secret())
      const asked = { run_id: runId, feedback_key: key }
      const token = tokenOf(asked, { tenant, secret, id: env.uuid7(), nowMs: env.nowMs() })
      await platform.ingest.putFeedbackToken(token)
      return [key, `${root}/feedback/tokens/${secret}`] as const
    }
    try {
      return Object.fromEntries(await Promise.all([...new Set(keys)].map(linkFor)))
    } catch (error) {
      env.log.warn('Links for feedback on a run cannot be made.', { runId, error })
      return undefined
    }
  }
}
