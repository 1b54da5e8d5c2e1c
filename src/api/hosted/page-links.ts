/** Addresses of pages that clients print, as the product writes them: they lead to the Studio. */

import { Type } from 'typebox'

import { Text } from '../json.ts'
import { operation } from '../operation.ts'

const named = Type.Object({ name: Text(1_000) })
const committed = Type.Object({ ...named.properties, commit: Text(1_000) })
const owner = { owner: Text(1_000) }
const query = Type.Object({
  trace_id: Type.Optional(Text(100)),
  selectedSessions: Type.Optional(Text(8_192)),
})

const page = { access: 'public', query, status: 302 } as const
const prompt = { ...page, summary: 'Open the page of a prompt' } as const
const version = { ...page, summary: 'Open the page of a version of a prompt' } as const

const tenant = { tenant: Text(1_000) }
const token = Type.Object({ token: Text(1_000) })
const project = { ...tenant, project: Text(1_000) }
const dataset = { ...tenant, dataset: Text(1_000) }
const deployments = { ...page, summary: 'Open the page of deployments' } as const
const projects = { ...page, summary: 'Open the page of projects',
  params: Type.Object(tenant) } as const

export const openTenant = operation('GET', '/api/v1/o/:tenant', projects)

export const openProjects = operation('GET', '/api/v1/o/:tenant/projects', projects)

export const openProject = operation('GET', '/api/v1/o/:tenant/projects/p/:project', {
  ...page,
  summary: 'Open the page of a project',
  params: Type.Object(project),
})

export const openRun = operation('GET', '/api/v1/o/:tenant/projects/p/:project/r/:run', {
  ...page,
  summary: 'Open the page of a run',
  params: Type.Object({ ...project, run: Text(1_000) }),
})

export const openDatasets = operation('GET', '/api/v1/o/:tenant/datasets', {
  ...page,
  summary: 'Open the page of datasets',
  params: Type.Object(tenant),
})

export const openDataset = operation('GET', '/api/v1/o/:tenant/datasets/:dataset', {
  ...page,
  summary: 'Open the page of a dataset',
  params: Type.Object(dataset),
})

export const openComparison = operation('GET', '/api/v1/o/:tenant/datasets/:dataset/compare', {
  ...page,
  summary: 'Open the page that compares experiments',
  params: Type.Object(dataset),
})

export const openDeployments = operation('GET', '/api/v1/o/:tenant/host/deployments', {
  ...deployments,
  params: Type.Object(tenant),
})

export const openDeployment = operation('GET', '/api/v1/o/:tenant/host/deployments/:deployment', {
  ...deployments,
  params: Type.Object({ ...tenant, deployment: Text() }),
})

export const openSharedRun = operation('GET', '/api/v1/public/:token/r', {
  ...page,
  summary: 'Open the page of a shared trace',
  params: token,
})

export const openSharedDataset = operation('GET', '/api/v1/public/:token/d', {
  ...page,
  summary: 'Open the page of a shared dataset',
  params: token,
})

export const openPrompt = operation('GET', '/api/v1/prompts/:name', { ...prompt, params: named })

export const openPromptCommit = operation('GET', '/api/v1/prompts/:name/:commit', {
  ...version,
  params: committed,
})

export const openContext = operation('GET', '/api/v1/context/:name', { ...prompt, params: named })

export const openContextCommit = operation('GET', '/api/v1/context/:name/:commit', {
  ...version,
  params: committed,
})

export const openHubPrompt = operation('GET', '/api/v1/hub/:owner/:name', {
  ...prompt,
  params: Type.Object({ ...owner, ...named.properties }),
})

export const openHubCommit = operation('GET', '/api/v1/hub/:owner/:name/:commit', {
  ...version,
  params: Type.Object({ ...owner, ...committed.properties }),
})
