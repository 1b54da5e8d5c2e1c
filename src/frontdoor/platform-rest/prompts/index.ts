/** Routes of prompts: repositories, their commits and tags, and directories of agents. */

export { commentRoutes } from './comments.ts'
export { commitRoutes, directoryCommitRoutes } from './commits.ts'
export { directoryRoutes } from './directories.ts'
export { repoRoutes } from './repos.ts'
export { tagRoutes } from './tags.ts'
