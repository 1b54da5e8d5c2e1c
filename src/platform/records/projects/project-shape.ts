/** Projects in answers, where they are sessions. Pure. */

import type { Project as ProjectJson, ProjectStats, ProjectV2 } from '../../../api/index.ts'
import { isObject } from '../../../json/index.ts'
import { zonedTextUs } from '../../spans/time.ts'
import type { Project } from './project.ts'
import type { KeptMember } from './project-request.ts'
import { tenantId } from '../../spans/tenant-id.ts'

/** The session of v1. `stats`: its statistics, if they were asked for. */
export function sessionJson(tenant: string, project: Project, stats?: ProjectStats): ProjectJson {
  return {
    ...given(project),
    ...stats,
    ...shared(tenant, project),
    last_run_start_time_live: stats?.last_run_start_time ?? null,
    trace_tier: project.longLived ? 'longlived' : 'shortlived',
  }
}

/** The session of v2. Its costs are numbers. */
export function sessionJsonV2(tenant: string, project: Project, stats?: ProjectStats): ProjectV2 {
  return {
    ...given(project),
    ...stats && costsAsNumbers(stats),
    ...shared(tenant, project),
    last_run_start_time_live: stats?.last_run_start_time ?? null,
    trace_tier: project.longLived ? 'LONG_LIVED' : 'SHORT_LIVED',
    type: project.referenceDatasetId === null ? 'PROJECT' : 'EXPERIMENT',
  }
}

function given({ restJson }: Project) {
  return { default_dataset_id: null, test_run_number: null,
    ...JSON.parse(restJson) as Partial<Pick<ProjectJson, KeptMember>> }
}

function shared(tenant: string, project: Project) {
  return {
    id: project.id,
    tenant_id: tenantId(tenant),
    name: project.name,
    start_time: timeText(project.startMs),
    end_time: project.endMs === null ? null : timeText(project.endMs),
    description: project.description,
    extra: JSON.parse(project.extraJson) as ProjectJson['extra'],
    reference_dataset_id: project.referenceDatasetId,
  }
}

function timeText(ms: number): string {
  return zonedTextUs(ms * 1_000)
}

type StatsV2 = Pick<ProjectV2, keyof ProjectStats>

/** Costs are texts, or texts by the kind of token. */
function costsAsNumbers(stats: ProjectStats): StatsV2 {
  return Object.fromEntries(Object.entries(stats).map(([name, value]) => {
    if (!name.includes('cost')) return [name, value]
    return [name, isObject(value)
      ? Object.fromEntries(Object.entries(value).map(([kind, cost]) => [kind, Number(cost)]))
      : typeof value === 'string'
      ? Number(value)
      : value]
  })) as StatsV2
}
