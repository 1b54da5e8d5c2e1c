/** A Dockerfile for a project, for those who must run images. */

import { existsSync } from 'node:fs'
import { join, relative, sep } from 'node:path'

import { readProject } from '../../graph/index.ts'
import { workspaceOf } from '../../revision/index.ts'
import { ownRelease } from '../../settings/index.ts'

/** Commands that install the packages, by lock file. */
const installs = {
  'pnpm-lock.yaml': 'npm install --global pnpm && pnpm install --frozen-lockfile --prod',
  'yarn.lock': 'corepack enable && yarn install --immutable',
  'bun.lock': 'npm install --global bun && bun install --frozen-lockfile --production',
  'bun.lockb': 'npm install --global bun && bun install --frozen-lockfile --production',
} as const

/**
 * Text of the Dockerfile. Throws `invalid` for a langgraph.json that is not valid, and
 * RevisionError.
 */
export async function dockerfile(config: string): Promise<string> {
  // A server that starts from the image looks at what guards the project.
  const project = await readProject(config, { ignoreAuth: true })
  const { root } = await workspaceOf(project.root)
  const [, install = 'npm ci --omit=dev'] = Object.entries(installs)
    .find(([name]) => existsSync(join(project.root, name)) || existsSync(join(root, name))) ?? []
  const place = relative(root, project.configFile).split(sep).join('/')
  const folder = relative(root, project.root).split(sep).join('/')
  const isOwn = ['package-lock.json', 'npm-shrinkwrap.json', ...Object.keys(installs)]
    .some((name) => existsSync(join(project.root, name)))
  const installFolder = isOwn && folder !== '' ? `/project/${folder}` : '/project'
  const version = ownRelease()
  return `# Serves this project with Heddle. Build it in ${
    root === project.root
      ? 'the folder of the project'
      : 'the root of the workspace'
  }.
# The image of Heddle is made from its own folder:
#   docker build -f deploy/Dockerfile -t heddle:${version} .
# Name in .dockerignore what is not for images: node_modules, .git, .heddle, .env
ARG HEDDLE_IMAGE=heddle:${version}

FROM node:24-bookworm-slim AS project
WORKDIR /project
COPY . .
RUN cd ${installFolder} && ${install}

FROM \${HEDDLE_IMAGE}
COPY --from=project /project /project
ENV HEDDLE_CONFIG=/project/${place} HEDDLE_DATA_DIR=/heddle/.heddle
`
}
