/** Prompts in answers, where they are repositories. Pure. */

import type { Commit as CommitJson, CommitTag as CommitTagJson,
  Prompt as PromptJson } from '../../../api/index.ts'
import { tenantId } from '../../spans/tenant-id.ts'
import { zonedTextUs } from '../../spans/time.ts'
import { commitId, likeOf } from './prompt-names.ts'
import type { Commit, CommitTag, Prompt } from './prompt.ts'

/** The caller that reads a prompt, whose own like is shown, and the owner's handle. */
export interface PromptReader {
  readonly tenant: string
  /** Name that tells callers of the tenant apart, such as `user 7`. */
  readonly caller: string
  /** The name by which others see the owner. */
  readonly handle: string | null
}

/** The repository of a prompt. */
export function repoJson(prompt: Prompt, { tenant, caller, handle }: PromptReader): PromptJson {
  const { id, name, head, upstream } = prompt
  return {
    id,
    repo_handle: name,
    full_name: handle === null ? name : `${handle}/${name}`,
    owner: handle,
    tenant_id: tenantId(prompt.tenant),
    repo_type: prompt.type,
    description: prompt.description,
    readme: prompt.readme,
    tags: prompt.tags,
    is_public: prompt.isPublic,
    is_archived: prompt.isArchived,
    created_at: timeText(prompt.createdMs),
    updated_at: timeText(prompt.updatedMs),
    num_likes: prompt.likes.length,
    num_downloads: prompt.downloads,
    num_views: prompt.views,
    num_commits: head?.number ?? 0,
    liked_by_auth_user: prompt.likes.includes(likeOf(tenant, caller)),
    last_commit_hash: head?.hash ?? null,
    commit_tags: prompt.commitTags.map(({ name }) => name),
    original_repo_id: null,
    original_repo_full_name: upstream,
    upstream_repo_id: null,
    upstream_repo_full_name: upstream,
  }
}

/** A commit in a list or as the answer to itself. */
export function commitJson(prompt: Prompt, commit: Commit, handle: string | null): CommitJson {
  const { hash, parent, by } = commit
  return {
    id: commitId(hash),
    manifest_id: commitId(hash),
    manifest_sha: commit.digest,
    commit_hash: hash,
    parent_id: parent === null ? null : commitId(parent),
    parent_commit_hash: parent,
    repo_id: prompt.id,
    repo: prompt.name,
    owner: handle ?? '-',
    created_at: timeText(commit.createdMs),
    updated_at: timeText(commit.createdMs),
    description: commit.description,
    full_name: by,
    example_run_ids: [],
    num_downloads: 0,
    num_views: 0,
    tags: prompt.commitTags.filter((tag) => tag.hash === hash).map(({ name }) => name),
  }
}

/** A tag of a commit. */
export function commitTagJson(prompt: Prompt,
  { name, hash, createdMs, updatedMs }: CommitTag): CommitTagJson {
  return {
    id: `${prompt.id}:${name}`,
    repo_id: prompt.id,
    repo_handle: prompt.name,
    tag_name: name,
    commit_id: commitId(hash),
    commit_hash: hash,
    created_at: timeText(createdMs),
    updated_at: timeText(updatedMs),
  }
}

function timeText(ms: number): string {
  return zonedTextUs(ms * 1_000)
}
