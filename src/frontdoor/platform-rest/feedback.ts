/** Routes of feedback, and of tokens with which anybody may give it. */

import { createFeedback, createFeedbackNow, createFeedbackTokens, deleteFeedback, getFeedback,
  giveFeedbackByLink, giveFeedbackByToken, listFeedback, listFeedbackTokens,
  patchFeedback } from '../../api/index.ts'
import { HeddleError } from '../../errors.ts'
import { configIn, feedbackJson, feedbackOf, tokenJson, tokenOf,
  tokenText } from '../../platform/index.ts'
import type { Feedback, Platform } from '../../platform/index.ts'
import { sendRows } from '../http/list-reply.ts'
import type { App } from '../http/route.ts'
import { serve } from '../http/serve.ts'
import type { Handler } from '../http/serve.ts'
import { feedbackByLink } from './feedback-link.ts'
import { feedbackPage } from './feedback-page.ts'
import { projectOf } from './platform-route.ts'
import type { PlatformParts } from './platform-route.ts'
import { requireId } from './path-id.ts'

const pageRows = 100
/** Tokens that are made at once. */
const tokensMax = 100

/** Adds the routes that create, list, read, change and delete feedback. */
export function feedbackRoutes(app: App, parts: PlatformParts): void {
  const { platform, env } = parts
  const nowUs = () => env.nowMs() * 1_000

  const give: Handler<typeof createFeedback> = async ({ body, caller }) => {
    const { tenant } = caller
    const row = feedbackOf(tenant, body, nowUs())
    // Feedback of a project that does not exist would be found by nobody.
    if (row.project !== null) await projectOf(platform, { caller }, row.project)
    const refused = await platform.ingest.putFeedback([row])
    if (refused.length > 0)
      throw new HeddleError('not_found', 'The run of this feedback was deleted.')
    const config = configIn(body)
    if (config) {
      await platform.feedbackConfigs.ensure(tenant, { feedback_key: row.key,
        feedback_config: config })
    }
    return feedbackJson(row)
  }
  serve(app, createFeedback, give)
  serve(app, createFeedbackNow, give)

  serve(app, listFeedback, async ({ query, caller: { tenant } }, reply) => {
    const { run, session: projects = [], key, source, offset = 0, limit = pageRows } = query
    const rows = await feedbackPage(platform.query, { tenant, projects, offset, limit,
      ...run && { spans: run }, ...key && { keys: key }, ...source && { sources: source } })
    return sendRows(reply, await existing(platform, tenant, rows),
      (row) => JSON.stringify(feedbackJson(row)))
  })

  const asked = async (tenant: string, text: string) => {
    const id = requireId(text, 'feedback')
    const row = await platform.query.getFeedback({ tenant, id })
    const [found] = row === undefined ? [] : await existing(platform, tenant, [row])
    if (found !== undefined) return found
    throw noFeedback()
  }
  serve(app, getFeedback,
    async ({ params, caller: { tenant } }) => feedbackJson(await asked(tenant, params.id)))

  serve(app, patchFeedback, async ({ params, body, caller: { tenant } }) => {
    const { id } = await asked(tenant, params.id)
    const row = await platform.ingest.changeFeedback({ tenant, id, change: body, nowUs: nowUs() })
    if (row === undefined) throw noFeedback()
    return feedbackJson(row)
  })

  serve(app, deleteFeedback, async ({ params, caller: { tenant } }) => {
    const id = requireId(params.id, 'feedback')
    if (!await platform.ingest.deleteFeedback({ tenant, id })) throw noFeedback()
    return { message: 'The feedback is deleted.' }
  })
}

/** Adds the routes of tokens. */
export function feedbackTokenRoutes(app: App, { platform, env }: PlatformParts): void {
  serve(app, createFeedbackTokens,
    async ({ body, caller: { tenant }, protocol, host, originalUrl, deployment }) => {
      const prefix = deployment?.prefix ?? ''
      const root = prefix + rootOf(originalUrl.slice(prefix.length))
      const make = async (each: unknown) => {
        const secret = tokenText(env.secret())
        const token = tokenOf(each, { tenant, secret, id: env.uuid7(), nowMs: env.nowMs() })
        await platform.ingest.putFeedbackToken(token)
        return tokenJson(token, { token: secret,
          url: `${protocol}://${host}${root}/feedback/tokens/${secret}` })
      }
      if (!Array.isArray(body)) return make(body)
      if (body.length > tokensMax) {
        throw new HeddleError('too_large', `Ask for ${tokensMax} tokens at most.`)
      }
      return Promise.all(body.map(make))
    })

  serve(app, listFeedbackTokens, async ({ query, caller: { tenant } }) => {
    const tokens = await platform.query.listFeedbackTokens({ tenant, span: query.run_id })
    const { offset = 0, limit = pageRows } = query
    return tokens.slice(offset, offset + Math.min(limit, pageRows))
      .map((token) => tokenJson(token))
  })

  const giveByLink = feedbackByLink({ platform, env })
  const give = async (text: string, given: Readonly<Record<string, unknown>>) => {
    await giveByLink(text, given)
    return { message: 'Thank you.' }
  }
  serve(app, giveFeedbackByLink, async ({ params, query }) => give(params.token, fromQuery(query)))
  serve(app, giveFeedbackByToken, async ({ params, body }) => give(params.token, body))
}

/** Clients refuse the link of a token below another root than theirs. */
function rootOf(target: string): string {
  return /^((?:\/api)?(?:\/v1)?)\/feedback\/tokens\/?(?:\?|$)/.exec(target)?.[1] ?? '/api/v1'
}

/** Scores of a query are texts: numbers and truth values are read. */
function fromQuery(query: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { score, value, comment, correction } = query
  return { value, comment, correction, score: scoreOf(score) }
}

function scoreOf(text: unknown): unknown {
  if (typeof text !== 'string') return null
  if (/^(?:true|false)$/i.test(text)) return text.toLowerCase() === 'true'
  const score = Number(text)
  return text.trim() === '' || Number.isNaN(score) ? text : score
}

/** Without what belongs to deleted projects. */
async function existing({ projects }: Platform, tenant: string,
  rows: readonly Feedback[]): Promise<readonly Feedback[]> {
  const ids = [...new Set(rows.flatMap(({ project }) => project ?? []))]
  const known = new Set((await projects.get(tenant, ids)).map(({ id }) => id))
  return rows.filter(({ project }) => project === null || known.has(project))
}

function noFeedback(): HeddleError {
  return new HeddleError('not_found', 'There is no such feedback.')
}
