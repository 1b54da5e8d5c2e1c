/** Every route of prompts, called with the names of somebody's prompt and directory. */

import type { Case } from './isolation-cases.ts'

/** A prompt and a directory of a tenant, and a commit and a tag of the prompt. */
export interface PromptBelongings {
  readonly prompt: string
  readonly directory: string
  readonly commit: string
  readonly tag: string
  readonly comment: string
}

/** A case of each route. */
export function promptCases(
  { prompt, directory, commit, tag, comment }: PromptBelongings,
): readonly Case[] {
  const shown = (route: string, path: string): Case => ({ route, path: `/api/v1${path}`,
    access: 'shown' })
  const change = (route: string, path: string, body?: unknown): Case => ({ route,
    path: `/api/v1${path}`, body, access: 'change' })
  const hub = '/platform/hub/repos/:owner/:name/directories'
  const files = `/platform/hub/repos/-/${directory}/directories`
  return [
    { route: 'GET /settings', path: '/api/v1/settings', access: 'read' },
    { route: 'GET /repos', path: '/api/v1/repos?query=mark', access: 'read' },
    shown('GET /repos/:owner/:name', `/repos/-/${prompt}`),
    shown('GET /repos/:owner/:name/owners', `/repos/-/${prompt}/owners`),
    shown('GET /repos/:owner/:name/tags', `/repos/-/${prompt}/tags`),
    shown('GET /repos/:owner/:name/tags/:tag', `/repos/-/${prompt}/tags/${tag}`),
    shown('GET /commits/:owner/:name', `/commits/-/${prompt}/`),
    shown('GET /commits/:name', `/commits/${prompt}/`),
    shown('GET /commits/:owner/:name/:ref', `/commits/-/${prompt}/${commit}`),
    shown('GET /comments/:owner/:name', `/comments/-/${prompt}`),
    shown('GET /comments/:owner/:name/:comment', `/comments/-/${prompt}/${comment}`),
    shown(`GET ${hub}`, files),
    change('POST /repos', '/repos', { repo_handle: `${prompt}-taken`, is_public: false }),
    change('PATCH /repos/:owner/:name', `/repos/-/${prompt}`, { description: 'taken' }),
    change('POST /repos/:owner/:name/fork', `/repos/-/${prompt}/fork`, { repo_handle: 'taken' }),
    change('POST /likes/:owner/:name', `/likes/-/${prompt}`, { like: true }),
    change('POST /comments/:owner/:name', `/comments/-/${prompt}`, { content: 'taken' }),
    change('POST /comments/:owner/:name/:comment', `/comments/-/${prompt}/${comment}`, {
      content: 'taken',
    }),
    change('POST /comments/:owner/:name/:comment/like', `/comments/-/${prompt}/${comment}/like`),
    change('DELETE /comments/:owner/:name/:comment/like', `/comments/-/${prompt}/${comment}/like`),
    change('POST /commits/:owner/:name', `/commits/-/${prompt}`, { manifest: { taken: true } }),
    change(`POST ${hub}/commits`, `${files}/commits`, { files: {} }),
    change('POST /repos/:owner/:name/tags', `/repos/-/${prompt}/tags`, { tag_name: 'taken',
      commit_id: commit }),
    change('PATCH /repos/:owner/:name/tags/:tag', `/repos/-/${prompt}/tags/${tag}`, {
      commit_id: commit,
    }),
    change('DELETE /repos/:owner/:name/tags/:tag', `/repos/-/${prompt}/tags/${tag}`),
    change(`DELETE ${hub}`, files),
    change('DELETE /repos/:owner/:name', `/repos/-/${prompt}`),
  ]
}
