/** Feedback that is given with a link. Anybody may have it, so its uses are counted. */

import { FairSemaphore } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'
import { feedbackByToken, feedbackOf, idByToken, isByToken, tokenHash, tokenRowsMax,
  tokenUsesMax } from '../../platform/index.ts'
import type { FeedbackToken, Platform } from '../../platform/index.ts'

/** Parts with which links are used: the store of feedback, its tokens, and the environment. */
export interface FeedbackLinkParts {
  readonly platform: {
    readonly ingest: Pick<Platform['ingest'], 'putFeedback'>
    readonly query: Pick<Platform['query'], 'getFeedbackToken' | 'listFeedback'>
  }
  readonly env: Pick<Env, 'nowMs' | 'uuid7' | 'secret'>
}

/** Gives feedback with the token of a link. Throws `not_found`; `forbidden` if it is used up. */
export type GiveByLink = (token: string, given: Readonly<Record<string, unknown>>) => Promise<void>

/** Uses of one link are counted one after another. */
const turnLimits = { inAll: 64, each: 1, waiting: 1_024, waitingEach: 32,
  full: 'Too many use this link now: try again in a moment.' }
/** Rows may be long, so few are in memory at once. */
const readAtOnce = 20

/** The use of links. A server counts exactly; several at once may each let one more through. */
export function feedbackByLink({ platform, env }: FeedbackLinkParts): GiveByLink {
  const turns = new FairSemaphore(turnLimits)
  return async (text, given) => {
    const leave = await turns.enter(tokenHash(text))
    try {
      const token = await platform.query.getFeedbackToken({ hash: tokenHash(text),
        nowMs: env.nowMs() })
      if (token === undefined) {
        throw new HeddleError('not_found', 'This token is unknown, or its time is over.')
      }
      await requireUnused(platform.query, token)
      const row = feedbackOf(token.tenant,
        feedbackByToken(token, given, idByToken(token, env.uuid7(), env.secret())),
        env.nowMs() * 1_000)
      const refused = await platform.ingest.putFeedback([row])
      if (refused.length > 0) {
        throw new HeddleError('not_found', 'The run of this feedback was deleted.')
      }
    } finally {
      leave()
    }
  }
}

async function requireUnused(query: Pick<Platform['query'], 'listFeedback'>,
  token: FeedbackToken): Promise<void> {
  let uses = 0
  for (let offset = 0;; offset += readAtOnce) {
    if (offset >= tokenRowsMax) {
      throw new HeddleError('forbidden', `The run has ${tokenRowsMax} feedbacks of this kind: a ` +
        'link gives no more. Send feedback with an API key.')
    }
    const rows = await query.listFeedback({ tenant: token.tenant, spans: [token.span],
      keys: [token.key], offset, limit: readAtOnce })
    uses += rows.filter(({ id }) => isByToken(token, id)).length
    if (uses >= tokenUsesMax) {
      throw new HeddleError('forbidden',
        `This link was used ${tokenUsesMax} times, as often as a ` +
          'link may be: ask for another.')
    }
    if (rows.length < readAtOnce) return
  }
}
