/** Routes of feedback, and of tokens with which anybody may give it. */

import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { TObject } from 'typebox'

import { HeddleError } from '../../errors.ts'
import { changedFeedback, configIn, feedbackJson, feedbackOf, tokenJson, tokenOf,
  tokenText } from '../../platform/index.ts'
import type { Feedback, Platform } from '../../platform/index.ts'
import { sendRows } from '../http/list-reply.ts'
import type { App } from '../http/route.ts'
import { Offset, Uuid as UuidText } from '../schema/json.ts'
import { feedbackByLink } from './feedback-link.ts'
import { feedbackPage } from './feedback-page.ts'
import { platformRoute, projectOf } from './platform-route.ts'
import type { PlatformParts } from './platform-route.ts'
import { requireId } from './path-id.ts'

const texts = () =>
  Type.Optional(
    Type.Array(Type.String({ maxLength: 1_000 }), { maxItems: 100, 'x-verbatim': true }),
  )

const ListFeedback = Type.Object({
  run: Type.Optional(Type.Array(UuidText(), { maxItems: 1_000 })),
  session: Type.Optional(Type.Array(UuidText(), { maxItems: 10 })),
  key: texts(),
  source: texts(),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 100 })),
  offset: Type.Optional(Offset()),
})
const ListTokens = Type.Object({ run_id: UuidText(), limit: Type.Optional(Type.Integer()),
  offset: Type.Optional(Offset()) })
const IdPath = Type.Object({ id: Type.String() })
const TokenPath = Type.Object({ token: Type.String({ maxLength: 200 }) })

/** What it holds is checked where it is read. */
const AnyObject = Type.Object({}, { additionalProperties: true }) as TObject & {
  readonly static: Record<string, unknown>
}

const pageRows = 100
/** Tokens that are made at once. */
const tokensMax = 100

/** Adds the routes below `/api/v1`. */
export function feedbackRoutes(app: App, parts: PlatformParts): void {
  const { platform, env } = parts
  const nowUs = () => env.nowMs() * 1_000

  const give = async ({ body, caller }: FastifyRequest) => {
    const { tenant } = caller
    const row = feedbackOf(tenant, body, nowUs())
    // Feedback of a project that does not exist would be found by nobody.
    if (row.project !== null) await projectOf(platform, { caller }, row.project)
    await platform.ingest.putFeedback([row])
    const config = configIn(body)
    if (config) {
      await platform.feedbackConfigs.ensure(tenant, { feedback_key: row.key,
        feedback_config: config })
    }
    return feedbackJson(row)
  }
  app.post('/feedback', platformRoute('change'), give)
  app.post('/feedback/eager', platformRoute('change'), give)

  app.get('/feedback', platformRoute('read', { querystring: ListFeedback }),
    async ({ query, caller: { tenant } }, reply) => {
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
  app.get('/feedback/:id', platformRoute('read', { params: IdPath }),
    async ({ params, caller: { tenant } }) => feedbackJson(await asked(tenant, params.id)))

  app.patch('/feedback/:id', platformRoute('change', { params: IdPath, body: AnyObject }),
    async ({ params, body, caller: { tenant } }) => {
      const row = changedFeedback(await asked(tenant, params.id), body, nowUs())
      await platform.ingest.putFeedback([row])
      return feedbackJson(row)
    })

  app.delete('/feedback/:id', platformRoute('change', { params: IdPath }),
    async ({ params, caller: { tenant } }) => {
      const id = requireId(params.id, 'feedback')
      if (!await platform.ingest.deleteFeedback({ tenant, id })) throw noFeedback()
      return { message: 'The feedback is deleted.' }
    })
}

/** Adds the routes of tokens below `/api/v1`. */
export function feedbackTokenRoutes(app: App, { platform, env }: PlatformParts): void {
  app.post('/feedback/tokens', platformRoute('change'),
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

  app.get('/feedback/tokens', platformRoute('read', { querystring: ListTokens }),
    async ({ query, caller: { tenant } }) => {
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
  app.get('/feedback/tokens/:token',
    platformRoute('public', { params: TokenPath, querystring: AnyObject }),
    async ({ params, query }) => give(params.token, fromQuery(query)))
  app.post('/feedback/tokens/:token',
    platformRoute('public', { params: TokenPath, body: AnyObject }),
    async ({ params, body }) => give(params.token, body))
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
