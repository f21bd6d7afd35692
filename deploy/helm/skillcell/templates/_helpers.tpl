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
