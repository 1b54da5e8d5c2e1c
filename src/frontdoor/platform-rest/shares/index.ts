/** Routes of shares and of signed links to files. */

export { datasetShareRoutes } from './dataset-shares.ts'
export { downloadRoutes } from './downloads.ts'
export { pageLinkRoutes } from './page-links.ts'
export { publicRunRoutes, publicRunRoutesV2 } from './public-runs.ts'
export { sharedExperimentRoutes, sharedExperimentRunRoutes } from './shared-experiments.ts'
export { runShareRoutes, shareRoutesV2 } from './run-shares.ts'
