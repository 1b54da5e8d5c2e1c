/** The contract of the API: every operation, and the records in requests and answers. */

export { a2aVersions, callAgent, findAgentCard, getAgentCard } from './agents/a2a.ts'
export { cancelRuns, searchRuns } from './threads/all-runs.ts'
export type { CancelRuns, RunOfTenant, SearchRuns } from './threads/all-runs.ts'
export { assistantFields, countAssistants, createAssistant, deleteAssistant, getAssistant,
  getAssistantGraph, getAssistantSchemas, getAssistantSubgraph, getAssistantSubgraphs,
  listAssistantVersions, searchAssistants, setLatestAssistantVersion,
  updateAssistant } from './assistants.ts'
export type { Assistant, CountAssistants, CreateAssistant, GraphPicture, GraphSchemas, ListVersions,
  PatchAssistant, SearchAssistants } from './assistants.ts'
export { createAlertRule, deleteAlertRule, getAlertRule, listAlertRules, patchAlertRule,
  testAlertRule } from './rules/alert-rules.ts'
export type { AlertAction, AlertMeasure, AlertRule } from './rules/alert-rules.ts'
export { cancelBulkDeletion, createBulkDeletion, getBulkDeletion,
  listBulkDeletions } from './bulk-deletions.ts'
export type { BulkDeletion, BulkDeletionBody } from './bulk-deletions.ts'
export { createBuild, startBuild, uploadSource } from './control/builds.ts'
export { createChart, createSection, deleteChart, deleteSection, listSections, patchChart,
  patchSection, previewChart, readChart, readDashboards, readProjectDashboard,
  readSection } from './charts.ts'
export type { Chart, ChartBody, ChartFilters, ChartPoint, ChartSection, ChartSeries,
  ChartWindowBody, Dashboard, SectionBody } from './charts.ts'
export { getCluster, streamCluster } from './cluster.ts'
export type { Cluster } from './cluster.ts'
export { Command } from './command.ts'
export { loadComponent, readComponentFile } from './files/components.ts'
export { bodyMbMax } from './control/control-parts.ts'
export { countCrons, createCron, createThreadCron, cronFields, deleteCron, getCron, lastCronRuns,
  payloadFields, previewCron, searchCrons, triggerCron, updateCron } from './crons.ts'
export type { CountCrons, CreateCron, CronLastRun, PatchCron, PreviewCron,
  SearchCrons } from './crons.ts'
export { readDeploymentLogs, streamDeploymentEvents } from './control/deployment-lines.ts'
export type { ControlLine, LinesQuery } from './control/deployment-lines.ts'
export { deleteSecret, listSecrets, setSecret, setSecrets } from './control/deployment-secrets.ts'
export type { ControlChange, ControlSecret } from './control/deployment-secrets.ts'
export { createDeployment, deleteDeployment, getDeployment, listDeployments,
  updateDeployment } from './control/deployments.ts'
export type { ControlDeployment, DeploymentBody } from './control/deployments.ts'
export { readDatasetCsv, readDatasetLines, readFineTuningLines } from './datasets/dataset-files.ts'
export { groupExperiments, listDatasetRuns, listExperimentRuns } from './datasets/dataset-runs.ts'
export type { ComparedExampleV2, DatasetRunsBody,
  ExperimentGroup } from './datasets/dataset-runs.ts'
export { getDatasetShare, shareDataset, unshareDataset } from './datasets/dataset-shares.ts'
export { changeDatasetSplit, compareDatasetVersions, createComparison, createDataset,
  deleteComparison, deleteDataset, getDataset, getDatasetVersion, listComparisons, listDatasets,
  listDatasetSplits, listDatasetsV2, listDatasetVersions, patchDataset, tagDatasetVersion,
  uploadDataset, uploadExperiment } from './datasets/datasets.ts'
export type { Comparison, Dataset, DatasetBody, DatasetVersion,
  VersionDiff } from './datasets/datasets.ts'
export { downloadFile, downloadPublicFile } from './files/downloads.ts'
export { cancelExperiment, createExperiment, getExperiment,
  listExperiments } from './datasets/experiments.ts'
export type { Experiment, NewExperiment } from './datasets/experiments.ts'
export { createEvaluator, deleteEvaluator, deleteEvaluators, getEvaluator, listEvaluators,
  patchEvaluator } from './rules/evaluators.ts'
export type { Evaluator, EvaluatorBody, LlmEvaluator } from './rules/evaluators.ts'
export { countExamples, createExample, createExampleParts, createExamples, deleteExample,
  deleteExampleOf, deleteExamples, eraseExamples, getExample, listExamples, patchExample,
  patchExampleMetadata, patchExampleParts, patchExamples, validateExample,
  validateExamples } from './datasets/examples.ts'
export type { Example, ExampleBody } from './datasets/examples.ts'
export { createFeedback, createFeedbackConfig, createFeedbackNow, createFeedbackTokens,
  deleteFeedback, deleteFeedbackConfigs, getFeedback, giveFeedbackByLink, giveFeedbackByToken,
  listFeedback, listFeedbackConfigs, listFeedbackTokens, patchFeedback,
  patchFeedbackConfig } from './feedback.ts'
export type { Feedback, FeedbackConfig, FeedbackConfigBody, FeedbackToken } from './feedback.ts'
export { createHostedDeployment, createPushToken, createUploadUrl, deleteHostedDeployment,
  getHostedDeployment, getListener, listHostedDeployments, listListeners, updateHostedDeployment,
  uploadArchive } from './hosted/hosted-deployments.ts'
export type { HostedDeployment, HostedSecrets } from './hosted/hosted-deployments.ts'
export { getHostedRevision, listHostedRevisions, readHostedBuildLines, readHostedLines,
  readHostedRevisionLines } from './hosted/hosted-revisions.ts'
export type { HostedLine, HostedLinesBody, HostedLinesPage, HostedRevision,
  HostedStatus } from './hosted/hosted-revisions.ts'
export { openComparison, openContext, openContextCommit, openDataset, openDatasets, openDeployment,
  openDeployments, openHubCommit, openHubPrompt, openProject, openProjects, openPrompt,
  openPromptCommit, openRun, openSharedDataset, openSharedRun,
  openTenant } from './hosted/page-links.ts'
export { ingestBatch, ingestParts, ingestRun, ingestRunChange } from './ingest/ingest.ts'
export type { Ingested } from './ingest/ingest.ts'
export { exportLogs, exportMetrics, exportTraces } from './ingest/otel.ts'
export { Failure } from './failure.ts'
export { Json, JsonObject, Nullable } from './json.ts'
export { createKey, listKeys, revokeKey } from './keys.ts'
export type { ApiKey, KeyBody } from './keys.ts'
export { getLimits, listRefusedCallers } from './limits.ts'
export type { LimitReport, LimitRow, RefusedCallers } from './limits.ts'
export { callTools, endToolSession, streamTools } from './agents/mcp.ts'
export { getAgentResource, getToolResource } from './agents/protected-resource.ts'
export { changeWorkspaceSecrets, createModel, createPrice, deleteModel, deletePrice,
  listLocalModels, listModels, listPrices, listUsualPrices, listWorkspaceSecrets, patchModel,
  replacePrice } from './models.ts'
export type { ConfiguredModel, LocalProgram, ModelChange, ModelPrice, NewModel, PriceBody,
  UsualPrices } from './models.ts'
export type { Access, Answer, AnswerHeader, AskedEvent, Asks, Body, CheckedBody, Operation, Params,
  Query, Value } from './operation.ts'
export { operations } from './operations.ts'
export type { Answered, Asked, NamedOperation, Route, Selectable, Selected,
  SelectingRoute } from './operations.ts'
export { askModel, proposeExamples, proposeFilter, runExperiment,
  streamExperiment } from './playground.ts'
export type { ExperimentBody, ModelQuestion } from './playground.ts'
export { commitDirectory, createComment, createCommit, createPrompt, createPromptTag, createReply,
  deleteDirectory, deletePrompt, deletePromptTag, forkPrompt, getPrompt, getPromptTag, likeComment,
  likePrompt, listComments, listCommits, listOwnCommits, listPromptOwners, listPrompts,
  listPromptTags, listReplies, movePromptTag, patchPrompt, pullCommit, readDirectory, readWorkspace,
  unlikeComment } from './prompts.ts'
export type { Comment, Commit, CommitTag, Prompt, PromptFields } from './prompts.ts'
export { EventNamespace, openThreadSocket, sendCommand,
  streamThreadEvents } from './threads/protocol.ts'
export type { EventFilter } from './threads/protocol.ts'
export { addQueueItems, addQueueRuns, addQueueRunsByKey, countAllQueueRuns, countArchivedRuns,
  countQueueItems, countQueueRuns, createQueue, deleteQueue, deleteQueueItems, deleteQueueRun,
  deleteQueueRuns, getQueue, getQueueRun, listQueueItems, listQueueRuns, listQueues,
  listQueuesOfRun, patchQueue, patchQueueItem, patchQueueRun, placeQueueItem, populateQueue,
  setItemStatus, setRunStatus } from './queues.ts'
export type { AddedQueueItem, Queue, QueueBody, QueueItem, RubricItem } from './queues.ts'
export { createRevision, deleteRevision, getRevision, listMissingChunks, listRevisions,
  uploadChunk } from './control/revisions.ts'
export type { ControlFailure, ControlRevision, ControlUpload } from './control/revisions.ts'
export { cancelReplay, getReplay, listReplayedRuns, listReplays,
  startReplay } from './control/replays.ts'
export type { ControlReplay, ControlVerdict } from './control/replays.ts'
export { activateRevision, checkRevision, rollBack } from './control/rollouts.ts'
export type { ControlMember, ControlMove, ControlOutcome, ControlReport,
  ControlRollout } from './control/rollouts.ts'
export { createRule, deleteRule, getRule, listRules, patchRule, readRuleLog, readRuleState,
  RuleFields, triggerRule, triggerRules, tryJudge } from './rules/rules.ts'
export type { Rule, RuleAlert, RuleBody, RuleEvaluator, RuleLine, RuleSpendLimit, RuleState,
  RuleVerdict, RuleWebhook } from './rules/rules.ts'
export { askSql } from './sql.ts'
export type { StreamMode } from './run-content.ts'
export { runFields } from './threads/run-parts.ts'
export type { JoinQuery, Run, StreamQuery } from './threads/run-parts.ts'
export { cancelRun, createRun, deleteRun, getRun, getRunEffects, getRunLogs, joinRun, joinRunStream,
  listRuns, streamRun, waitRun } from './threads/runs.ts'
export type { CancelRun, CreateRun, ListRuns, ReadRunLogs, RunEffects,
  RunLogs } from './threads/runs.ts'
export { checkServer, getCaller, getServerInfo } from './server.ts'
export type { CallerDetails, ServerInfo } from './server.ts'
export { createRuns, createStatelessRun, joinStatelessRunStream, streamStatelessRun,
  waitStatelessRun } from './threads/stateless-runs.ts'
export type { BatchRun, CreateStatelessRun } from './threads/stateless-runs.ts'
export { getThreadHistory, getThreadState, getThreadStateAtCheckpoint, patchThreadState,
  postThreadHistory, postThreadStateAtCheckpoint, statePart,
  updateThreadState } from './threads/states.ts'
export type { PatchState, ReadHistory, ReadStateAt, StateTask, ThreadState,
  UpdateState } from './threads/states.ts'
export { deleteItem, getItem, listNamespaces, putItem, searchItems } from './store.ts'
export type { DeleteItem, ListNamespaces, PutItem, ReadItem, SearchItems } from './store.ts'
export { threadStatuses } from './threads/thread-parts.ts'
export type { Checkpoint, Interrupt, ThreadConditions } from './threads/thread-parts.ts'
export { copyThread, countThreads, createThread, deleteThread, extractPath, getThread,
  getThreadPlace, getThreadStorage, joinThreadStream, pruneThreads, searchThreads, threadFields,
  updateThread } from './threads/threads.ts'
export type { CountThreads, CreateThread, FoundThread, PatchThread, PruneThreads, SearchThreads,
  Thread, ThreadPlace, TimeToLive } from './threads/threads.ts'
export { getRunCall, listRunCalls } from './threads/run-calls.ts'
export type { RunCall, RunCallBodies, RunCallBody, RunCalls } from './threads/run-calls.ts'
export { getThreadUsage } from './threads/thread-usage.ts'
export type { RunUsage, ThreadUsage, UsageSum } from './threads/thread-usage.ts'
export { createProject, deleteProject, deleteProjects, findProject, getProject, listProjects,
  listProjectsV2, patchProject } from './traces/projects.ts'
export type { Project, ProjectBody, ProjectStats, ProjectV2 } from './traces/projects.ts'
export type { RunStats } from './traces/statistics.ts'
export { createView, deleteView, getView, listViews, patchView, viewsMax,
  viewTypes } from './traces/views.ts'
export type { View, ViewBody } from './traces/views.ts'
export { countSharedExamples, getSharedDataset, getSharedRun, listProjectsOfSeveral,
  listSharedComparisons, listSharedDatasetRuns, listSharedExampleRuns, listSharedExamples,
  listSharedFeedback, listSharedProjects, querySharedRuns,
  readSharedStats } from './datasets/public-datasets.ts'
export { getPublicRoot, getPublicRun, getPublicRunV2, listPublicFeedback, listPublicRuns,
  queryPublicRuns, queryPublicRunsV2 } from './traces/public-runs.ts'
export type { TracedRunV2 } from './traces/run-json.ts'
export type { RunsQuery, RunsQueryV2 } from './traces/run-questions.ts'
export { getRunUrl, getTracedRunV2, listRunsOfTrace, listTracesOfConversation, queryConversations,
  queryRunsV2, queryTraces, readConversationsStats,
  readConversationStats } from './traces/runs-v2.ts'
export { deleteRuns, deleteTraces, exportRuns, getTracedRun, groupRuns, queryRuns, readGroupStats,
  readRunStats, validateFilter } from './traces/runs.ts'
export { checkPlatform, getOrganisation, getPlatformInfo, getPublicCaller, ingestBeaconTraces,
  postBeacon, postGenerate, readBeacon, readGenerate, reportBeacon, reportMetadata,
  verifyBeacon } from './traces/server-reports.ts'
export { getConversationShare, getRunShare, shareConversation, shareRun, shareRunV2,
  unshareConversation, unshareRun, unshareRunV2 } from './traces/shares.ts'
