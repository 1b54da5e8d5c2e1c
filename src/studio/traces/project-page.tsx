/** Traces of a project. */

import { PageHead } from '../parts/page-head.tsx'

/** The page. */
export function ProjectPage() {
  return <PageHead title="Traces of a project" />
}
