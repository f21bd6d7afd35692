{{- define "skillcell.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "skillcell.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" }}
{{- else if contains (include "skillcell.name" .) .Release.Name }}
{{- .Release.Name | trunc 52 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "skillcell.name" .) | trunc 52 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "skillcell.selector" -}}
app.kubernetes.io/name: {{ include "skillcell.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "skillcell.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{ include "skillcell.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "skillcell.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end }}
{{- end }}

{{- define "skillcell.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "skillcell.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "skillcell.accessSecret" -}}
{{- if .Values.access.existingSecret }}
{{- .Values.access.existingSecret }}
{{- else if .Values.access.rules }}
{{- printf "%s-access" (include "skillcell.fullname" .) }}
{{- else }}
{{- fail "No token is configured, and Skillcell does not listen on a network without one. Set access.existingSecret or access.rules; `skillcell serve --new-token NAME --access access.json` makes both a token and the file." }}
{{- end }}
{{- end }}

{{/* The policy, with the mounted Secret as the source of secrets unless the policy names sources itself. */}}
{{- define "skillcell.policy" -}}
{{- $policy := deepCopy .Values.policy }}
{{- if and .Values.skillSecrets.existingSecret (not (hasKey $policy "secrets")) }}
{{- $_ := set $policy "secrets" (list (dict "file" "/run/secrets/skillcell")) }}
{{- end }}
{{- toYaml $policy }}
{{- end }}

{{- define "skillcell.hostNames" -}}
{{- $name := include "skillcell.fullname" . }}
{{- $hosts := list $name (printf "%s.%s" $name .Release.Namespace) (printf "%s.%s.svc" $name .Release.Namespace) (printf "%s.%s.svc.cluster.local" $name .Release.Namespace) }}
{{- toJson (concat $hosts .Values.serve.allowHosts | uniq) }}
{{- end }}

{{/* 45 characters at most, because a label has the name of the StatefulSet and a hash. */}}
{{- define "skillcell.workers" -}}
{{- printf "%s-worker" (include "skillcell.fullname" . | trunc 38 | trimSuffix "-") }}
{{- end }}

{{- define "skillcell.nats" -}}
{{- printf "%s-nats" (include "skillcell.fullname" . | trunc 40 | trimSuffix "-") }}
{{- end }}

{{- define "skillcell.clusterUrl" -}}
{{- if and .Values.nats.enabled .Values.cluster.url }}
{{- fail "nats.enabled and cluster.url contradict each other. Remove one of them." }}
{{- else if .Values.nats.enabled }}
{{- printf "%s://%s:4222" (ternary "tls" "nats" (not (empty .Values.nats.tlsSecret))) (include "skillcell.nats" .) }}
{{- else }}
{{- if and .Values.networkPolicy.enabled (not .Values.networkPolicy.egress) }}
{{- fail "The network policy has no egress, so no pod can reach the NATS servers. List them in networkPolicy.egress." }}
{{- end }}
{{- required "A cluster needs servers. Set cluster.url or nats.enabled." .Values.cluster.url }}
{{- end }}
{{- end }}

{{/* What a process of the cluster is started with; the file of its key is mounted under the same name in every pod. */}}
{{- define "skillcell.clusterArgs" -}}
- --cluster={{ include "skillcell.clusterUrl" . }}
- --cluster-key=/etc/skillcell/cluster/key.nk
{{- if .Values.cluster.caSecret }}
- --cluster-ca=/etc/skillcell/cluster-ca/ca.crt
{{- end }}
{{- if .Values.cluster.certSecret }}
- --cluster-cert=/etc/skillcell/cluster-cert/tls.crt
- --cluster-cert-key=/etc/skillcell/cluster-cert/tls.key
{{- end }}
{{- end }}

{{- define "skillcell.podName" -}}
- name: POD_NAME
  valueFrom:
    fieldRef:
      fieldPath: metadata.name
{{- end }}

{{/* A pod sees its own key, not those of the others. */}}
{{- define "skillcell.clusterMounts" -}}
- { name: cluster-keys, mountPath: /etc/skillcell/cluster/key.nk, subPathExpr: $(POD_NAME).nk, readOnly: true }
{{ include "skillcell.clusterTlsMounts" . }}
{{- end }}

{{- define "skillcell.clusterTlsMounts" -}}
{{- if .Values.cluster.caSecret }}
- { name: cluster-ca, mountPath: /etc/skillcell/cluster-ca, readOnly: true }
{{- end }}
{{- if .Values.cluster.certSecret }}
- { name: cluster-cert, mountPath: /etc/skillcell/cluster-cert, readOnly: true }
{{- end }}
{{- end }}

{{- define "skillcell.clusterVolumes" -}}
- name: cluster-keys
  secret:
    secretName: {{ required "Every pod of a cluster needs a key. Set cluster.keySecret to a Secret with the files that `skillcell cluster init` wrote." .Values.cluster.keySecret }}
    defaultMode: 0440
{{ include "skillcell.clusterTlsVolumes" . }}
{{- end }}

{{- define "skillcell.clusterTlsVolumes" -}}
{{- with .Values.cluster.caSecret }}
- name: cluster-ca
  secret:
    secretName: {{ . }}
    defaultMode: 0440
{{- end }}
{{- with .Values.cluster.certSecret }}
- name: cluster-cert
  secret:
    secretName: {{ . }}
    defaultMode: 0440
{{- end }}
{{- end }}

{{/* What a pod that starts cells needs: bubblewrap mounts a /proc of its own, in a user namespace. */}}
{{- define "skillcell.cellPod" -}}
{{- if .Values.modes.jail }}
# Kubernetes shows all of /proc only to pods with a user namespace of their own.
hostUsers: false
{{- end }}
securityContext:
  {{- toYaml .Values.podSecurityContext | nindent 2 }}
  seccompProfile:
    {{- if .Values.modes.jail }}
    type: Localhost
    localhostProfile: {{ .Values.modes.seccompProfile }}
    {{- else }}
    type: RuntimeDefault
    {{- end }}
  {{- if and .Values.modes.jail .Values.modes.appArmorProfile }}
  appArmorProfile:
    {{- toYaml .Values.modes.appArmorProfile | nindent 4 }}
  {{- end }}
{{- end }}

{{/* A pod that starts no cells. */}}
{{- define "skillcell.plainPod" -}}
securityContext:
  {{- toYaml .Values.podSecurityContext | nindent 2 }}
  seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "skillcell.plainContainer" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- define "skillcell.cellContainer" -}}
{{ include "skillcell.plainContainer" . }}
{{- if .Values.modes.jail }}
procMount: Unmasked
{{- end }}
{{- end }}

{{- define "skillcell.placement" -}}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.topologySpreadConstraints }}
topologySpreadConstraints:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "skillcell.pull" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Egress of pods: what the values list, DNS, and the server of this chart. */}}
{{- define "skillcell.egress" -}}
{{- $server := and .Values.cluster.enabled .Values.nats.enabled }}
{{- if or .Values.networkPolicy.egress $server }}
egress:
  {{- with .Values.networkPolicy.egress }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- if $server }}
  - to:
      - podSelector:
          matchLabels:
            {{- include "skillcell.selector" . | nindent 12 }}
            app.kubernetes.io/component: nats
    ports:
      - { protocol: TCP, port: 4222 }
  {{- end }}
  {{- if .Values.networkPolicy.dns }}
  - to:
      - namespaceSelector:
          matchLabels: { kubernetes.io/metadata.name: kube-system }
        podSelector:
          matchLabels: { k8s-app: kube-dns }
    ports:
      - { protocol: UDP, port: 53 }
      - { protocol: TCP, port: 53 }
  {{- end }}
{{- else }}
egress: []
{{- end }}
{{- end }}
